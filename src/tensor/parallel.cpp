#include "cladtorch/tensor/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "cladtorch/error.h"

namespace cladtorch {

int num_threads() { return omp_get_max_threads(); }

void set_num_threads(int count) {
  require(count >= 1 && count <= most_threads, "set_num_threads: expected 1 to ", most_threads, ", got ",
          count);
  omp_set_num_threads(count);
}

void parallel_for(int64_t n, int64_t grain, detail::RangeBody body) {
  parallel_for(n, grain, [] {}, body);
}

void parallel_for(int64_t n, int64_t grain, detail::ThreadBody prepare, detail::RangeBody body) {
  const int64_t pieces = (n + grain - 1) / grain;
  const auto piece = [&](int64_t i) { body(i * grain, std::min(n, (i + 1) * grain)); };
  if (pieces <= 1 || omp_in_parallel() || omp_get_max_threads() == 1) {
    prepare();
    for (int64_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  // Threads take the next piece when they are free. A counter of our own: OpenMP's dynamic schedule allocates
  // memory at every loop, and a static one waits for the slower thread.
  std::atomic<int64_t> next = 0;
#pragma omp parallel
  {
    prepare();
    for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < pieces;
         i = next.fetch_add(1, std::memory_order_relaxed))
      piece(i);
  }
}

}  // namespace cladtorch
