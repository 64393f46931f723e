// Forward mode through tensors: the tangent of an operation's result, written with operations that have
// pullbacks, so that it can be differentiated again. Include it where clad::pushforward, clad::differentiate
// or clad::hessian_vector_product is asked of a function of tensors.
//
// An undefined tangent is a zero of any shape.
#pragma once

#include "cladtorch/ops/ops.h"

namespace cladtorch::tangents {

inline Tensor plus(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return add(a, b);
}
inline Tensor minus(const Tensor& a, const Tensor& b) {
  if (!b.defined()) return a;
  if (!a.defined()) return scale(b, -1);
  return sub(a, b);
}
inline Tensor times(const Tensor& d, const Tensor& factor) {
  if (!d.defined()) return Tensor();
  return mul(d, factor);
}
inline Tensor scaled(const Tensor& d, double factor) {
  if (!d.defined()) return Tensor();
  return scale(d, factor);
}
/// x W^T, linear in both.
inline Tensor product(const Tensor& x, const Tensor& weight) {
  if (!x.defined() || !weight.defined()) return Tensor();
  return linear(x, weight);
}
/// d in the shape of y, which it is broadcast to.
inline Tensor shaped(const Tensor& d, const Tensor& y) {
  if (!d.defined()) return Tensor();
  return add(zeros(y.shape(), y.dtype()), d);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;
using Tangent = ::clad::ValueAndPushforward<Tensor, Tensor>;
namespace tangents = ::cladtorch::tangents;

inline Tangent add_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ::cladtorch::add(a, b);
  return {y, tangents::plus(tangents::shaped(d_a, y), d_b)};
}
inline Tangent sub_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ::cladtorch::sub(a, b);
  return {y, tangents::minus(tangents::shaped(d_a, y), d_b)};
}
inline Tangent mul_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  return {::cladtorch::mul(a, b), tangents::plus(tangents::times(d_a, b), tangents::times(d_b, a))};
}
inline Tangent scale_pushforward(const Tensor& x, double factor, const Tensor& d_x, double d_factor) {
  const Tensor y = ::cladtorch::scale(x, factor);
  return {y, tangents::plus(tangents::scaled(d_x, factor), tangents::scaled(x, d_factor))};
}
inline Tangent linear_pushforward(const Tensor& x, const Tensor& weight, const Tensor& d_x,
                                  const Tensor& d_weight) {
  return {::cladtorch::linear(x, weight),
          tangents::plus(tangents::product(d_x, weight), tangents::product(x, d_weight))};
}
inline Tangent linear_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                  const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias) {
  const Tensor y = ::cladtorch::linear(x, weight, bias);
  const Tensor d_y = tangents::plus(tangents::product(d_x, weight), tangents::product(x, d_weight));
  return {y, tangents::plus(d_y, tangents::shaped(d_bias, y))};
}
inline Tangent tanh_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ::cladtorch::tanh(x);
  const Tensor slope = ::cladtorch::add_scalar(::cladtorch::scale(::cladtorch::mul(y, y), -1), 1);
  return {y, tangents::times(d_x, slope)};
}
inline Tangent sigmoid_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ::cladtorch::sigmoid(x);
  return {y, tangents::times(d_x, ::cladtorch::sub(y, ::cladtorch::mul(y, y)))};
}
inline Tangent silu_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ::cladtorch::silu(x), s = ::cladtorch::sigmoid(x);
  const Tensor slope = ::cladtorch::add(s, ::cladtorch::sub(y, ::cladtorch::mul(y, s)));
  return {y, tangents::times(d_x, slope)};
}
inline Tangent sum_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ::cladtorch::sum(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ::cladtorch::sum(d_x)};
}
inline Tangent mean_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ::cladtorch::mean(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ::cladtorch::mean(d_x)};
}

}  // namespace clad::custom_derivatives::cladtorch

namespace clad::custom_derivatives::class_functions {

inline ValueAndPushforward<double, double> item_pushforward(const ::cladtorch::Tensor* x,
                                                            const ::cladtorch::Tensor* d_x) {
  double d_y = 0;
  if (d_x->defined()) d_y = d_x->item();
  return {x->item(), d_y};
}

}  // namespace clad::custom_derivatives::class_functions
