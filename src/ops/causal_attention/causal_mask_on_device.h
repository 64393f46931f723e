// Causal masks on CUDA devices.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/host_device.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// How many of its `all` entries a row of a matrix [length, all] sees.
CLADTORCH_HOST_DEVICE inline int64_t causally_seen(int64_t row, int64_t length, int64_t all) {
  return row + 1 + all - length;
}

/// y = or += dense x [..., T, S] where positions see it, and `rest` elsewhere.
inline constinit DeviceFunction<void(const Tensor& x, double rest, const GradientTarget& y)> tril_on_device{
    "tril"};

}  // namespace cladtorch::detail
