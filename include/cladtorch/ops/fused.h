// Operations that replace two others. The rules in fusion.h let the compiler use them in a model that is
// written with the parts.
#pragma once

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// gelu_tanh(linear(x, weight, bias)). The bias may be undefined.
Tensor linear_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// linear(gelu_tanh(linear(x, weight, bias)), projection, projection_bias): the MLP of a transformer block.
/// Shapes: x [..., C], weight [H, C], bias [H], projection [O, H], projection_bias [O]. Biases
/// may be undefined. On a CUDA device the products' kernels compute GELU and its derivative, and the result
/// of GELU is computed again for the backward pass, so one tensor of H numbers per row is kept, not two.
Tensor mlp_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& projection,
                     const Tensor& projection_bias);

/// A sum and its normalization.
struct NormalizedSum {
  Tensor sum;
  Tensor normalized;
};

/// {a + b, layer_norm(a + b, weight, bias, epsilon)}. The sum is read while it is in the cache. It rounds as
/// the two operations do; a and b broadcast.
NormalizedSum add_layer_norm(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                             double epsilon = 1e-5);

/// {a + b, rms_norm(a + b, weight, epsilon)}, as add_layer_norm.
NormalizedSum add_rms_norm(const Tensor& a, const Tensor& b, const Tensor& weight, double epsilon = 1e-6);

struct LinearGeluState {
  Tensor linear;  ///< what GELU is taken of
};

struct MlpGeluState {
  Tensor linear;  ///< what GELU is taken of
  Tensor hidden;  ///< GELU of it; undefined if the backward pass computes it again
};

struct AddLayerNormState {
  Tensor sum;
  BroadcastState operands;
  LayerNormState rows;
};

struct AddRMSNormState {
  Tensor sum;
  BroadcastState operands;
  RMSNormState rows;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::AddLayerNormState;
using ::cladtorch::AddRMSNormState;
using ::cladtorch::LinearGeluState;
using ::cladtorch::MlpGeluState;
using ::cladtorch::NormalizedSum;
using ::cladtorch::Tensor;

Tensor linear_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     pullback_state<LinearGeluState>& state);
void linear_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias,
                               pullback_state<LinearGeluState>& state);

Tensor mlp_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                  const Tensor& projection, const Tensor& projection_bias,
                                  pullback_state<MlpGeluState>& state);
void mlp_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const Tensor& projection, const Tensor& projection_bias, Tensor d_y, Tensor* d_x,
                            Tensor* d_weight, Tensor* d_bias, Tensor* d_projection, Tensor* d_projection_bias,
                            pullback_state<MlpGeluState>& state);

NormalizedSum add_layer_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                          const Tensor& bias, double epsilon,
                                          pullback_state<AddLayerNormState>& state);
void add_layer_norm_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, const Tensor& weight,
                             const Tensor& bias, double epsilon, NormalizedSum d_y, Tensor* d_a, Tensor* d_b,
                             Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                             pullback_state<AddLayerNormState>& state);

NormalizedSum add_rms_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                        double epsilon, pullback_state<AddRMSNormState>& state);
void add_rms_norm_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, const Tensor& weight,
                           double epsilon, NormalizedSum d_y, Tensor* d_a, Tensor* d_b, Tensor* d_weight,
                           double* d_epsilon, pullback_state<AddRMSNormState>& state);
}  // namespace clad::custom_derivatives::cladtorch
