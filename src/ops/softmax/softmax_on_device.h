// Softmax and its logarithm on CUDA devices.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// y = softmax(x), or its logarithm, of dense rows.
inline constinit DeviceFunction<void(const Tensor& x, bool logarithm, const GradientTarget& y)>
    softmax_on_device{"softmax"};

/// d_x = or += the pullback's, given that y.
inline constinit DeviceFunction<void(const Tensor& y, bool logarithm, const Tensor& d_y,
                                     const GradientTarget& d_x)>
    softmax_pullback_on_device{"softmax"};

}  // namespace cladtorch::detail
