// A launch as the device sees it, and running it: all blocks, one after the other in a shuffled order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cuda_host/launch.h"
#include "cuda_host/vector_types.h"

namespace cuda_host::detail {

struct Launch {
  KernelCall call;
  dim3 grid;
  dim3 block;
  size_t dynamic_bytes = 0;
};

// Why the launch failed, if it did: one line that names the kernel and the block.
std::optional<std::string> run(const Launch& launch);

// Whether the code that runs now on this thread of the host is a kernel's.
bool in_kernel();

}  // namespace cuda_host::detail
