// The classification losses on CUDA devices. A target that is neither `ignore_index` nor in [0, V) makes the
// loss and its row's gradient NaN: the host does not know what is on the device.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Of dense logits [..., V]. Leaves log_sum_exp and `losses` [rows], the mean loss [] and `share` [], which
/// is 1 / rows that count, all in the dtype that logits are computed in.
inline constinit DeviceFunction<void(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                     Tensor& log_sum_exp, Tensor& losses, Tensor& mean, Tensor& share)>
    cross_entropy_on_device{"cross_entropy"};

inline constinit DeviceFunction<void(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                     const Tensor& log_sum_exp, const Tensor& share, const Tensor& d_y,
                                     const GradientTarget& d_logits)>
    cross_entropy_pullback_on_device{"cross_entropy"};

/// Leaves `losses` [rows], the mean and the share as above.
inline constinit DeviceFunction<void(const Tensor& log_probabilities, const Tensor& targets,
                                     int64_t ignore_index, Tensor& losses, Tensor& mean, Tensor& share)>
    nll_loss_on_device{"nll_loss"};

/// Works in `share` [] of d_y's dtype; `dtype` is that of the log-probabilities, of `classes` a row.
inline constinit DeviceFunction<void(DType dtype, int64_t classes, const Tensor& targets,
                                     int64_t ignore_index, const Tensor& d_y, Tensor& share,
                                     const GradientTarget& d_x)>
    nll_loss_pullback_on_device{"nll_loss"};

}  // namespace cladtorch::detail
