// Dropout on CUDA devices.
#pragma once

#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// out = or += x where the mask of `state` keeps an element, scaled; dense.
inline constinit DeviceFunction<void(const DropoutState& state, double probability, const Tensor& x,
                                     const GradientTarget& out)>
    dropout_on_device{"dropout"};

}  // namespace cladtorch::detail
