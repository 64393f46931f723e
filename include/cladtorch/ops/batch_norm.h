// Normalization of the channels of images and sequences, on the CPU.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// (x - mean) / sqrt(variance + eps) * weight + bias for each channel of x [N, C, ...], with weight and bias
/// [C], which may be undefined. While `training`, the mean and the biased variance are those of the batch,
/// and the running ones [C] move to them by `momentum`, to the unbiased variance, in place; a part that runs
/// again (clad::checkpoint) moves them once. Otherwise they are the running ones. These may be undefined
/// while training. Statistics of bfloat16 are in float32. Throws Error that names the shapes if they do not
/// fit. Source: Ioffe and Szegedy, "Batch normalization", 2015; as torch.nn.functional.batch_norm.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum = 0.1,
                  double eps = 1e-5);

/// The same with the mean and the variance of each image's `groups` of neighbouring channels. Source: Wu and
/// He, "Group normalization", 2018.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps = 1e-5);

/// Those of each channel of each image.
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps = 1e-5);

/// The mean of each set of elements that are normalized together, and 1 / sqrt(variance + eps).
struct ChannelNormState {
  Tensor mean, rstd;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::ChannelNormState;
using ::cladtorch::Tensor;

/// While training the result does not depend on the running statistics, and it never depends on the momentum:
/// their gradients do not change.
Tensor batch_norm_reverse_forw(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                               const Tensor& weight, const Tensor& bias, bool training, double momentum,
                               double eps, pullback_state<ChannelNormState>& state);
void batch_norm_pullback(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                         const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps,
                         Tensor d_y, Tensor* d_x, Tensor* d_running_mean, Tensor* d_running_var,
                         Tensor* d_weight, Tensor* d_bias, double* d_momentum, double* d_eps,
                         pullback_state<ChannelNormState>& state);

Tensor group_norm_reverse_forw(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                               double eps, pullback_state<ChannelNormState>& state);
void group_norm_pullback(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                         double eps, Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_eps,
                         pullback_state<ChannelNormState>& state);

Tensor instance_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                                  pullback_state<ChannelNormState>& state);
void instance_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor d_y,
                            Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_eps,
                            pullback_state<ChannelNormState>& state);
}  // namespace clad::custom_derivatives::cladtorch
