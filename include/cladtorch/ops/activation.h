// Pointwise functions, in the names and with the defaults of PyTorch. Each takes float32, float64 or bfloat16
// and throws Error for an undefined tensor or another dtype. Where a function has a kink its derivative is
// PyTorch's.
#pragma once

#include "cladtorch/ops/functions/functions.h"
#include "cladtorch/ops/functions/functions_of_two.h"
#include "cladtorch/ops/pairwise.h"
#include "cladtorch/ops/pointwise.h"

namespace cladtorch {

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's GELU. Source: Hendrycks and Gimpel, 2016.
inline Tensor gelu_tanh(const Tensor& x) { return pointwise(functions::GeluTanh{}, x); }
/// x/2 (1 + erf(x / sqrt 2)): x times the normal distribution, which gelu_tanh approximates. Source:
/// Hendrycks and Gimpel, 2016.
inline Tensor gelu_erf(const Tensor& x) { return pointwise(functions::GeluErf{}, x); }
/// x / (1 + exp(-x)), also called swish. Source: Elfwing, Uchibe and Doya, 2017.
inline Tensor silu(const Tensor& x) { return pointwise(functions::Silu{}, x); }
/// silu(gate) * up of equal shapes: the nonlinearity of Llama's MLP. Source: Shazeer, "GLU variants improve
/// transformer", 2020.
Tensor swiglu(const Tensor& gate, const Tensor& up);

/// max(x, 0); the derivative at 0 is 0.
inline Tensor relu(const Tensor& x) { return pointwise(functions::Relu{}, x); }
/// min(max(x, 0), 6).
inline Tensor relu6(const Tensor& x) { return pointwise(functions::Clamp{0, 6}, x); }
/// x where x > 0, else negative_slope x. Source: Maas, Hannun and Ng, 2013.
inline Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01) {
  return pointwise(functions::LeakyRelu{negative_slope}, x);
}
/// x where x > 0, else alpha (exp(x) - 1). Source: Clevert, Unterthiner and Hochreiter, 2015.
inline Tensor elu(const Tensor& x, double alpha = 1) { return pointwise(functions::Elu{alpha}, x); }
/// x where x > 0, else alpha (exp(x / alpha) - 1). Source: Barron, 2017.
inline Tensor celu(const Tensor& x, double alpha = 1) { return pointwise(functions::Celu{alpha}, x); }
/// 1.0507 elu(x, 1.6733). Source: Klambauer et al., "Self-normalizing neural networks", 2017.
inline Tensor selu(const Tensor& x) { return pointwise(functions::Selu{}, x); }
/// log(1 + exp(beta x)) / beta, and x where beta x > threshold.
inline Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20) {
  return pointwise(functions::Softplus{beta, threshold}, x);
}
/// x tanh(softplus(x)). Source: Misra, 2019.
inline Tensor mish(const Tensor& x) { return pointwise(functions::Mish{}, x); }
/// x / (1 + |x|).
inline Tensor softsign(const Tensor& x) { return pointwise(functions::Softsign{}, x); }
/// x - tanh(x).
inline Tensor tanhshrink(const Tensor& x) { return pointwise(functions::Tanhshrink{}, x); }
/// x, and 0 where |x| <= limit.
inline Tensor hardshrink(const Tensor& x, double limit = 0.5) {
  return pointwise(functions::Hardshrink{limit}, x);
}
/// x moved towards 0 by limit, and 0 where |x| <= limit.
inline Tensor softshrink(const Tensor& x, double limit = 0.5) {
  return pointwise(functions::Softshrink{limit}, x);
}
/// min(max(x, low), high); the derivative at both ends is 0.
inline Tensor hardtanh(const Tensor& x, double low = -1, double high = 1) {
  return pointwise(functions::Clamp{low, high}, x);
}
/// min(max(x / 6 + 1/2, 0), 1). Source: Howard et al., "Searching for MobileNetV3", 2019.
inline Tensor hardsigmoid(const Tensor& x) { return pointwise(functions::Hardsigmoid{}, x); }
/// x hardsigmoid(x). Source: Howard et al., 2019.
inline Tensor hardswish(const Tensor& x) { return pointwise(functions::Hardswish{}, x); }
/// x where x > limit, else value.
inline Tensor threshold(const Tensor& x, double limit, double value) {
  return pointwise(functions::Threshold{limit, value}, x);
}
inline Tensor tanh(const Tensor& x) { return pointwise_of_result(functions::Tanh{}, x); }
/// 1 / (1 + exp(-x)).
inline Tensor sigmoid(const Tensor& x) { return pointwise_of_result(functions::Sigmoid{}, x); }
/// log(sigmoid(x)), without overflow.
inline Tensor logsigmoid(const Tensor& x) { return pointwise(functions::LogSigmoid{}, x); }

inline Tensor exp(const Tensor& x) { return pointwise_of_result(functions::Exp{}, x); }
inline Tensor exp2(const Tensor& x) { return pointwise(functions::Exp2{}, x); }
/// exp(x) - 1, exact near 0.
inline Tensor expm1(const Tensor& x) { return pointwise(functions::Expm1{}, x); }
/// The natural logarithm.
inline Tensor log(const Tensor& x) { return pointwise(functions::Log{}, x); }
inline Tensor log2(const Tensor& x) { return pointwise(functions::Log2{}, x); }
inline Tensor log10(const Tensor& x) { return pointwise(functions::Log10{}, x); }
/// log(1 + x), exact near 0.
inline Tensor log1p(const Tensor& x) { return pointwise(functions::Log1p{}, x); }
inline Tensor sqrt(const Tensor& x) { return pointwise_of_result(functions::Sqrt{}, x); }
/// 1 / sqrt(x).
inline Tensor rsqrt(const Tensor& x) { return pointwise_of_result(functions::Rsqrt{}, x); }
inline Tensor square(const Tensor& x) { return pointwise(functions::Square{}, x); }
/// 1 / x.
inline Tensor reciprocal(const Tensor& x) { return pointwise_of_result(functions::Reciprocal{}, x); }
/// x to the power of a number.
inline Tensor pow(const Tensor& x, double exponent) { return pointwise(functions::Pow{exponent}, x); }

/// |x|; the derivative at 0 is 0.
inline Tensor abs(const Tensor& x) { return pointwise(functions::Abs{}, x); }
/// 1, -1 or 0. The derivative of this and of the four that follow is 0.
inline Tensor sign(const Tensor& x) { return pointwise(functions::Sign{}, x); }
inline Tensor floor(const Tensor& x) { return pointwise(functions::Floor{}, x); }
inline Tensor ceil(const Tensor& x) { return pointwise(functions::Ceil{}, x); }
/// Towards 0.
inline Tensor trunc(const Tensor& x) { return pointwise(functions::Trunc{}, x); }
/// To the nearest whole number; halves go to the even one.
inline Tensor round(const Tensor& x) { return pointwise(functions::Round{}, x); }
/// min(max(x, low), high); the derivative at both ends is 0. Infinity stands for no bound.
inline Tensor clamp(const Tensor& x, double low, double high) {
  return pointwise(functions::Clamp{low, high}, x);
}

inline Tensor sin(const Tensor& x) { return pointwise(functions::Sin{}, x); }
inline Tensor cos(const Tensor& x) { return pointwise(functions::Cos{}, x); }
inline Tensor tan(const Tensor& x) { return pointwise(functions::Tan{}, x); }
inline Tensor asin(const Tensor& x) { return pointwise(functions::Asin{}, x); }
inline Tensor acos(const Tensor& x) { return pointwise(functions::Acos{}, x); }
inline Tensor atan(const Tensor& x) { return pointwise(functions::Atan{}, x); }
inline Tensor sinh(const Tensor& x) { return pointwise(functions::Sinh{}, x); }
inline Tensor cosh(const Tensor& x) { return pointwise(functions::Cosh{}, x); }
inline Tensor asinh(const Tensor& x) { return pointwise(functions::Asinh{}, x); }
inline Tensor acosh(const Tensor& x) { return pointwise(functions::Acosh{}, x); }
inline Tensor atanh(const Tensor& x) { return pointwise(functions::Atanh{}, x); }
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
inline Tensor erf(const Tensor& x) { return pointwise(functions::Erf{}, x); }
/// 1 - erf(x), exact for large x.
inline Tensor erfc(const Tensor& x) { return pointwise(functions::Erfc{}, x); }

// Of two tensors, which broadcast.

/// The larger of each pair; where both are equal each has half of the derivative.
inline Tensor maximum(const Tensor& a, const Tensor& b) { return pairwise(functions::Maximum{}, a, b); }
/// The smaller of each pair; where both are equal each has half of the derivative.
inline Tensor minimum(const Tensor& a, const Tensor& b) { return pairwise(functions::Minimum{}, a, b); }
/// a to the power of b.
inline Tensor pow(const Tensor& a, const Tensor& b) { return pairwise(functions::Power{}, a, b); }
/// The angle of the point (b, a), from -pi to pi.
inline Tensor atan2(const Tensor& a, const Tensor& b) { return pairwise(functions::Atan2{}, a, b); }
/// sqrt(a^2 + b^2) without overflow.
inline Tensor hypot(const Tensor& a, const Tensor& b) { return pairwise(functions::Hypot{}, a, b); }
/// log(exp(a) + exp(b)) without overflow.
inline Tensor logaddexp(const Tensor& a, const Tensor& b) { return pairwise(functions::Logaddexp{}, a, b); }
/// a log(b), and 0 where a is 0.
inline Tensor xlogy(const Tensor& a, const Tensor& b) { return pairwise(functions::Xlogy{}, a, b); }
/// a - b floor(a / b), which has the sign of b.
inline Tensor remainder(const Tensor& a, const Tensor& b) { return pairwise(functions::Remainder{}, a, b); }
/// x where x > 0, else weight x; weight has one element or broadcasts. Source: He et al., 2015.
inline Tensor prelu(const Tensor& x, const Tensor& weight) { return pairwise(functions::Prelu{}, x, weight); }

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
void swiglu_pullback(const Tensor& gate, const Tensor& up, Tensor d_y, Tensor* d_gate, Tensor* d_up);
}  // namespace clad::custom_derivatives::cladtorch
