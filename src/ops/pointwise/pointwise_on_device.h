// Pointwise functions on CUDA devices; pointwise.cu has the code.
#pragma once

#include "cladtorch/ops/pointwise_code.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// y = f(x) of dense x, to y of the same dtype; bfloat16 is computed in float. `f` points to an F.
template <class F>
inline constinit DeviceFunction<void(const void* f, const Tensor& x, const GradientTarget& y)>
    value_on_device{F::name};

/// d_x = or += d_y times the derivative at `at`, both dense.
template <class F>
inline constinit DeviceFunction<void(const void* f, Slope slope, const Tensor& at, const Tensor& d_y,
                                     const GradientTarget& d_x)>
    slope_on_device{F::name};

}  // namespace cladtorch::detail
