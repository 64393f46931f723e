// The classifier's loss on CUDA devices. No number comes back to the host: how many rows count, and the
// cotangent, stay on the device, and rows that are ignored are computed like the others.
//
// Rows go through in blocks. The scores of a block are written in the operands' dtype; one kernel replaces
// them by the gradients of the loss with respect to them, from which two more products make the block's d_x
// and its part of d_weight. These are for a cotangent of 1 until the pullback scales them.
#pragma once

#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// loss [] of dense x [rows, C], weight [V, C] and targets [rows], and unless they are undefined its
/// gradients d_x [rows, C] and d_weight [V, C], which is float32 for bfloat16. `block_rows` rows go through
/// at a time. A target outside [0, V) that is not `ignore_index` makes the loss and the gradients NaN.
inline constinit DeviceFunction<void(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                     int64_t ignore_index, int64_t block_rows, Tensor& loss, Tensor& d_x,
                                     Tensor& d_weight)>
    linear_cross_entropy_on_device{"linear_cross_entropy"};

/// out = or += factor [] times x, both dense.
inline constinit DeviceFunction<void(const Tensor& x, const Tensor& factor, const GradientTarget& out)>
    scaled_on_device{"linear_cross_entropy"};

/// With 512 MiB of scores a block has 5,340 rows of GPT-2's vocabulary in bfloat16: adding to d_weight, 310
/// MB to read and write, then takes a seventh of the time of the block's products.
constexpr int64_t most_score_bytes = int64_t{512} << 20;

/// The loss of operands that have been checked; with a state, also what the pullback needs.
Tensor linear_cross_entropy_forward(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                    int64_t ignore_index, LinearCrossEntropyState* state,
                                    int64_t score_bytes = most_score_bytes);

/// Gradients that are not wanted are null.
void linear_cross_entropy_backward(const LinearCrossEntropyState& state, const Tensor& d_y, Tensor* d_x,
                                   Tensor* d_weight);

}  // namespace cladtorch::detail
