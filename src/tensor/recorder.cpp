#include "cladtorch/tensor/recorder.h"

#include <atomic>
#include <mutex>
#include <set>

namespace cladtorch {
namespace {

std::mutex mutex;
std::set<uint32_t> open_graphs;

/// 0 stands for no graph.
uint32_t next_number() {
  static std::atomic<uint32_t> last = 0;
  const uint32_t number = ++last;
  return number ? number : ++last;
}

}  // namespace

Recorder::Recorder() : number(next_number()) {
  const std::lock_guard lock(mutex);
  open_graphs.insert(number);
}

Recorder::~Recorder() {
  const std::lock_guard lock(mutex);
  open_graphs.erase(number);
}

void detail::refuse_on_other_thread(const Tensor& x) {
  const std::lock_guard lock(mutex);
  require(!open_graphs.contains(x.recorded().graph), "a tensor of ", x.shape(),
          " is in a computation graph that another thread records, which does not see this operation; "
          "clad::stop_gradient(x) makes it a constant");
}

}  // namespace cladtorch
