// What operations of several tensors demand of their devices.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// Throws Error naming `operation` if one of `others` that is defined is not where x is.
template <class... Tensors>
void check_one_device(const char* operation, const Tensor& x, const Tensors&... others) {
  const auto check = [&](const Tensor& other) {
    require(!other.defined() || other.device() == x.device(), operation, ": operands are on ", x.device(),
            " and on ", other.device(), "; copy one with to(device)");
  };
  (check(others), ...);
}

/// Throws Error naming `operation` if x is on another device.
inline void require_cpu(const char* operation, const Tensor& x) {
  require(!x.is_cuda(), operation, ": there is no code for CUDA devices; use the cpu");
}

}  // namespace cladtorch::detail
