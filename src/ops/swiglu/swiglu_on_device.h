// SwiGLU's pullback on CUDA devices.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Dense operands of one shape; either gradient may be null.
inline constinit DeviceFunction<void(const Tensor& gate, const Tensor& up, const Tensor& d_y,
                                     const GradientTarget* d_gate, const GradientTarget* d_up)>
    swiglu_pullback_on_device{"swiglu"};

}  // namespace cladtorch::detail
