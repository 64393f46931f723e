// Functions of single elements for CUDA devices. F is a struct with a `name` and an operator() that runs on
// host and device; its code there is made in the .cu file beside the operation (pointwise_on_device.cuh).
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// out = or += f(x) of dense x; bfloat16 is computed in float.
template <class F>
inline constinit DeviceFunction<void(const F& f, const Tensor& x, const GradientTarget& out)> map_on_device{
    F::name};

/// out = or += f(x, z) of dense x and z of one shape.
template <class F>
inline constinit DeviceFunction<void(const F& f, const Tensor& x, const Tensor& z, const GradientTarget& out)>
    map2_on_device{F::name};

/// Dense `out` of shape `shape` = or += f(a, b), where a and b broadcast to `shape`.
template <class F>
inline constinit DeviceFunction<void(const F& f, const Shape& shape, const Tensor& a, const Tensor& b,
                                     const GradientTarget& out)>
    zip_on_device{F::name};

}  // namespace cladtorch::detail
