// Tangents of arithmetic, products and reductions, and the functions with which all tangents are written.
//
// An undefined tangent is a zero of any shape.
#pragma once

#include <clad/Differentiator/Adjoint.h>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"

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
/// a b, linear in both.
inline Tensor matrix_product(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return Tensor();
  return matmul(a, b);
}
/// d broadcast to the shape of y.
inline Tensor shaped(const Tensor& d, const Tensor& y) {
  if (!d.defined()) return Tensor();
  return add(zeros(y.shape(), y.dtype()), d);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Shape;
using ::cladtorch::Tensor;
using Tangent = ::clad::ValueAndPushforward<Tensor, Tensor>;
namespace ops = ::cladtorch;

inline Tangent add_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ops::add(a, b);
  return {y, ops::tangents::plus(ops::tangents::shaped(d_a, y), d_b)};
}
inline Tangent sub_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ops::sub(a, b);
  return {y, ops::tangents::minus(ops::tangents::shaped(d_a, y), d_b)};
}
inline Tangent mul_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  return {ops::mul(a, b), ops::tangents::plus(ops::tangents::times(d_a, b), ops::tangents::times(d_b, a))};
}
inline Tangent div_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ops::div(a, b);
  const Tensor top = ops::tangents::minus(ops::tangents::shaped(d_a, y), ops::tangents::times(d_b, y));
  if (!top.defined()) return {y, Tensor()};
  return {y, ops::div(top, b)};
}
inline Tangent scale_pushforward(const Tensor& x, double factor, const Tensor& d_x, double d_factor) {
  const Tensor y = ops::scale(x, factor);
  return {y, ops::tangents::plus(ops::tangents::scaled(d_x, factor), ops::tangents::scaled(x, d_factor))};
}
inline Tangent add_scalar_pushforward(const Tensor& x, double value, const Tensor& d_x, double d_value) {
  const Tensor y = ops::add_scalar(x, value);
  const Tensor everywhere = ops::add_scalar(ops::zeros(y.shape(), y.dtype()), d_value);
  return {y, ops::tangents::plus(d_x, everywhere)};
}

inline Tangent matmul_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  return {ops::matmul(a, b),
          ops::tangents::plus(ops::tangents::matrix_product(d_a, b), ops::tangents::matrix_product(a, d_b))};
}
inline Tangent linear_pushforward(const Tensor& x, const Tensor& weight, const Tensor& d_x,
                                  const Tensor& d_weight) {
  return {ops::linear(x, weight),
          ops::tangents::plus(ops::tangents::product(d_x, weight), ops::tangents::product(x, d_weight))};
}
inline Tangent linear_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                  const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias) {
  const Tensor y = ops::linear(x, weight, bias);
  const Tensor d_y =
      ops::tangents::plus(ops::tangents::product(d_x, weight), ops::tangents::product(x, d_weight));
  return {y, ops::tangents::plus(d_y, ops::tangents::shaped(d_bias, y))};
}

inline Tangent sum_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::sum(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::sum(d_x)};
}
inline Tangent mean_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::mean(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::mean(d_x)};
}
inline Tangent sum_to_pushforward(const Tensor& x, const Shape& shape, const Tensor& d_x) {
  const Tensor y = ops::sum_to(x, shape);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::sum_to(d_x, shape)};
}

}  // namespace clad::custom_derivatives::cladtorch
