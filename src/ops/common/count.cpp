#include "cladtorch/ops/count.h"

#include <atomic>

namespace cladtorch {
namespace {
std::atomic<int64_t> count = 0;
thread_local int64_t flops = 0;
}  // namespace

int64_t op_count() { return count.load(std::memory_order_relaxed); }
void detail::count_op() { count.fetch_add(1, std::memory_order_relaxed); }

int64_t flop_count() { return flops; }
void detail::count_flops(int64_t more) { flops += more; }

}  // namespace cladtorch
