// What operations without code for devices demand.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// Throws Error naming `operation` if x is on another device.
inline void require_cpu(const char* operation, const Tensor& x) {
  require(!x.is_cuda(), operation, ": there is no code for CUDA devices; use the cpu");
}

}  // namespace cladtorch::detail
