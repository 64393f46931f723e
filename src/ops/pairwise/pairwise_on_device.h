// Functions of two elements on CUDA devices; pairwise.cu has the code.
#pragma once

#include "cladtorch/ops/pairwise_code.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// y = f(a, b) of a shape to which both broadcast.
template <class F>
inline constinit DeviceFunction<void(const Tensor& a, const Tensor& b, const Shape& shape,
                                     const GradientTarget& y)>
    pair_value_on_device{F::name};

/// d = or += d_y times a derivative, of the shape of dense d_y.
template <class F>
inline constinit DeviceFunction<void(PairSlope slope, const Tensor& a, const Tensor& b, const Tensor& d_y,
                                     const GradientTarget& d)>
    pair_slope_on_device{F::name};

}  // namespace cladtorch::detail
