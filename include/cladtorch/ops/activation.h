// Pointwise functions.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's GELU. Source: Hendrycks and Gimpel, 2016.
Tensor gelu_tanh(const Tensor& x);
/// x/2 (1 + erf(x / sqrt 2)): x times the normal distribution, which gelu_tanh approximates. Source:
/// Hendrycks and Gimpel, 2016.
Tensor gelu_erf(const Tensor& x);
/// x / (1 + exp(-x)), also called swish. Source: Elfwing, Uchibe and Doya, 2017.
Tensor silu(const Tensor& x);
/// silu(gate) * up of equal shapes: the nonlinearity of Llama's MLP. Source: Shazeer, "GLU variants improve
/// transformer", 2020.
Tensor swiglu(const Tensor& gate, const Tensor& up);
/// max(x, 0); the derivative at 0 is 0.
Tensor relu(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
Tensor exp(const Tensor& x);
/// The natural logarithm.
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
Tensor erf(const Tensor& x);

/// The state of an operation whose derivative is written in terms of its result.
struct OutputState {
  Tensor y;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::OutputState;
using ::cladtorch::Tensor;

void gelu_tanh_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
void gelu_erf_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
void silu_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
void swiglu_pullback(const Tensor& gate, const Tensor& up, Tensor d_y, Tensor* d_gate, Tensor* d_up);
void relu_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);

Tensor tanh_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void tanh_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state);

Tensor sigmoid_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void sigmoid_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x,
                      pullback_state<OutputState>& state);

Tensor exp_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void exp_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state);
void log_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
Tensor sqrt_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void sqrt_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state);
Tensor rsqrt_reverse_forw(const Tensor& x, pullback_state<OutputState>& state);
void rsqrt_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state);
void erf_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
}  // namespace clad::custom_derivatives::cladtorch
