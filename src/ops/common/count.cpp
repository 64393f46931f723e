#include "cladtorch/ops/count.h"

#include <atomic>

namespace cladtorch {
namespace {
std::atomic<int64_t> count = 0;
}

int64_t op_count() { return count.load(std::memory_order_relaxed); }
void detail::count_op() { count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace cladtorch
