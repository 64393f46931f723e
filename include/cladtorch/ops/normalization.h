// Operations along the last dimension: softmax, layer and RMS normalization.
#pragma once

#include "cladtorch/ops/activation.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// exp(x) / sum exp(x) along the last dimension, with the maximum subtracted first.
Tensor softmax(const Tensor& x);

/// log(softmax(x)), which does not overflow and does not round to log(0).
Tensor log_softmax(const Tensor& x);

/// (x - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension of x [..., C], with weight
/// and bias [C]; the bias may be undefined. The variance is the biased one. Source: Ba, Kiros and Hinton,
/// 2016.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon = 1e-5);

/// x / sqrt(mean(x^2) + epsilon) * weight along the last dimension of x [..., C]; weight [C]. Statistics of
/// bfloat16 are in float32, and the result is rounded once. Source: Zhang and Sennrich, "Root mean square
/// layer normalization", 2019.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon = 1e-6);

/// Mean and 1/sqrt(variance + epsilon) of every row, [rows] each.
struct LayerNormState {
  Tensor mean, rstd;
};

/// 1/sqrt(mean(x^2) + epsilon) of every row, [rows].
struct RMSNormState {
  Tensor rstd;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::LayerNormState;
using ::cladtorch::OutputState;
using ::cladtorch::RMSNormState;
using ::cladtorch::Tensor;

Tensor softmax_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void softmax_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x,
                      pullback_state<OutputState>& state);

Tensor log_softmax_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void log_softmax_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x,
                          pullback_state<OutputState>& state);

// On CUDA devices the norms' d_epsilon becomes NaN: a number on the host would have to wait for the device.

Tensor layer_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                               pullback_state<LayerNormState>& state);
void layer_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                         Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                         pullback_state<LayerNormState>& state);

Tensor rms_norm_reverse_forw(const Tensor& x, const Tensor& weight, double epsilon,
                             pullback_state<RMSNormState>& state);
void rms_norm_pullback(const Tensor& x, const Tensor& weight, double epsilon, Tensor d_y, Tensor* d_x,
                       Tensor* d_weight, double* d_epsilon, pullback_state<RMSNormState>& state);
}  // namespace clad::custom_derivatives::cladtorch
