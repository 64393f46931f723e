// Rotary embedding on CUDA devices.
#pragma once

#include "cladtorch/ops/rotary.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Pairs of a head whose frequencies fit into the arguments of a kernel.
inline constexpr int64_t most_pairs_on_device = 256;

inline constinit DeviceFunction<void(const RotaryFrequencies& frequencies, int64_t first, Tensor& table)>
    rotary_table_on_device{"rotary_table"};

/// y = or += dense x [B, T, H D], turned by a dense table [T, D], or back.
inline constinit DeviceFunction<void(const Tensor& x, const Tensor& table, bool back,
                                     const GradientTarget& y)>
    rotate_on_device{"rotary_embedding"};

}  // namespace cladtorch::detail
