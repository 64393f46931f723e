// Tangents of pointwise functions: d_x times the slope.
#pragma once

#include <cmath>
#include <numbers>

#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::tangents {

/// 1 where x > 0, else 0.
inline Tensor positive(const Tensor& x) {
  Tensor slope;
  clad::custom_derivatives::cladtorch::relu_pullback(x, ones(x.shape(), x.dtype()), &slope);
  return slope;
}
/// y + s - y s, for y = silu(x) and s = sigmoid(x).
inline Tensor silu_slope(const Tensor& x, const Tensor& y) {
  const Tensor s = sigmoid(x);
  return add(s, sub(y, mul(y, s)));
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::tangents {
/// A step has no slope.
inline void positive_pullback(CLAD_UNUSED const Tensor&, Tensor, Tensor*) {}
}  // namespace clad::custom_derivatives::cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline Tangent relu_pushforward(const Tensor& x, const Tensor& d_x) {
  return {ops::relu(x), ops::tangents::times(d_x, ops::tangents::positive(x))};
}
inline Tangent tanh_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::tanh(x);
  const Tensor slope = ops::add_scalar(ops::scale(ops::mul(y, y), -1), 1);
  return {y, ops::tangents::times(d_x, slope)};
}
inline Tangent sigmoid_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::sigmoid(x);
  return {y, ops::tangents::times(d_x, ops::sub(y, ops::mul(y, y)))};
}
inline Tangent silu_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::silu(x);
  return {y, ops::tangents::times(d_x, ops::tangents::silu_slope(x, y))};
}
inline Tangent swiglu_pushforward(const Tensor& gate, const Tensor& up, const Tensor& d_gate,
                                  const Tensor& d_up) {
  const Tensor s = ops::silu(gate);
  const Tensor slope = ops::mul(ops::tangents::silu_slope(gate, s), up);
  return {ops::swiglu(gate, up),
          ops::tangents::plus(ops::tangents::times(d_gate, slope), ops::tangents::times(d_up, s))};
}
/// With u = k (x + c x^3) and t = tanh(u): (1 + t + x (1 - t^2) u') / 2.
inline Tangent gelu_tanh_pushforward(const Tensor& x, const Tensor& d_x) {
  const double k = std::sqrt(2 * std::numbers::inv_pi), c = 0.044715;
  const Tensor square = ops::mul(x, x);
  const Tensor u = ops::scale(x * (1 + square * c), k);
  const Tensor t = ops::tanh(u);
  const Tensor turn = x * (1 - t * t) * ((1 + square * (3 * c)) * k);
  return {ops::gelu_tanh(x), ops::tangents::times(d_x, (1 + t + turn) * 0.5)};
}
/// The normal distribution plus x times its density.
inline Tangent gelu_erf_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor distribution = (1 + ops::erf(x * std::sqrt(0.5))) * 0.5;
  const Tensor density = ops::exp(x * x * -0.5) * std::sqrt(0.5 * std::numbers::inv_pi);
  return {ops::gelu_erf(x), ops::tangents::times(d_x, distribution + x * density)};
}
inline Tangent exp_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::exp(x);
  return {y, ops::tangents::times(d_x, y)};
}
inline Tangent log_pushforward(const Tensor& x, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::log(x), Tensor()};
  return {ops::log(x), ops::div(d_x, x)};
}
inline Tangent sqrt_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::sqrt(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::div(d_x, y * 2.0)};
}
inline Tangent rsqrt_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::rsqrt(x);
  return {y, ops::tangents::times(d_x, y * y * y * -0.5)};
}
inline Tangent erf_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor slope = ops::exp(-(x * x)) * (2 * std::numbers::inv_sqrtpi);
  return {ops::erf(x), ops::tangents::times(d_x, slope)};
}

}  // namespace clad::custom_derivatives::cladtorch
