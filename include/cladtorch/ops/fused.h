// Two operations in one. The rules in fusion.h let the compiler write them where a model has the two.
#pragma once

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// gelu_tanh(linear(x, weight, bias)). An undefined bias is left out.
Tensor linear_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// A sum and its normalization.
struct NormalizedSum {
  Tensor sum;
  Tensor normalized;
};

/// {a + b, layer_norm(a + b, weight, bias, epsilon)}: the sum is read while it lies in the cache. Rounds as
/// the two operations do; a and b broadcast.
NormalizedSum add_layer_norm(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                             double epsilon = 1e-5);

struct LinearGeluState {
  Tensor linear;  ///< what GELU is taken of
};

struct AddLayerNormState {
  Tensor sum;
  BroadcastState operands;
  LayerNormState rows;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::AddLayerNormState;
using ::cladtorch::LinearGeluState;
using ::cladtorch::NormalizedSum;
using ::cladtorch::Tensor;

Tensor linear_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     pullback_state<LinearGeluState>& state);
void linear_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias,
                               pullback_state<LinearGeluState>& state);

NormalizedSum add_layer_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                          const Tensor& bias, double epsilon,
                                          pullback_state<AddLayerNormState>& state);
void add_layer_norm_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, const Tensor& weight,
                             const Tensor& bias, double epsilon, NormalizedSum d_y, Tensor* d_a, Tensor* d_b,
                             Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                             pullback_state<AddLayerNormState>& state);
}  // namespace clad::custom_derivatives::cladtorch
