// What has been asked of the imitation, for tests that count, and what tests tell it.
#pragma once

#include <cstddef>

namespace cuda_host {

struct Statistics {
  size_t kernels_launched = 0;  // each kernel of a graph counts at each launch of the graph
  size_t graphs_launched = 0;
  size_t copies = 0;
  size_t bytes_copied = 0;
  size_t memory_sets = 0;
  size_t allocations = 0;  // of device memory, since the process started
  size_t pinned_allocations = 0;
  size_t live_allocations = 0;
  size_t live_bytes = 0;
  size_t waits = 0;  // calls in which the host waited for a stream, an event or a device
};

// Counted when the call is made, whether or not the work has run.
Statistics statistics();

// What the devices report from now on; 9.0 until then. What they can do stays.
void set_compute_capability(int major, int minor);

}  // namespace cuda_host
