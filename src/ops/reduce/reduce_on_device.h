// Sums on CUDA devices.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// out = or += factor times x summed over the dimensions that broadcasting `shape`, that of `out`, to x's
/// shape stretched. The order of the sum depends on the shapes alone.
inline constinit DeviceFunction<void(const Tensor& x, const Shape& shape, double factor,
                                     const GradientTarget& out)>
    sum_to_on_device{"sum_to"};

}  // namespace cladtorch::detail
