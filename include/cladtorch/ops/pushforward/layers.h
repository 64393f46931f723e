// Tangents of softmax, normalization, embeddings, dropout and rotary positions.
#pragma once

#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::tangents {

/// The tangent of p = softmax(x): p (d_x - sum(p d_x)).
inline Tensor of_softmax(const Tensor& p, const Tensor& d_x) {
  if (!d_x.defined()) return Tensor();
  const Tensor flow = mul(p, d_x);
  return sub(flow, mul(p, sum(flow, -1, true)));
}

/// The tangent of n = c r with r = 1 / sqrt(mean(c^2) + epsilon), along the last dimension.
inline Tensor of_normalized(const Tensor& n, const Tensor& r, const Tensor& d_c, double d_epsilon) {
  const Tensor by_epsilon = scale(mul(n, mul(r, r)), -0.5 * d_epsilon);
  if (!d_c.defined()) return by_epsilon;
  const Tensor along = mul(n, mean(mul(n, d_c), -1, true));
  return add(mul(sub(d_c, along), r), by_epsilon);
}

inline Tensor centered(const Tensor& x) {
  if (!x.defined()) return Tensor();
  return sub(x, mean(x, -1, true));
}
inline Tensor reciprocal_rms(const Tensor& c, double epsilon) {
  return rsqrt(add_scalar(mean(mul(c, c), -1, true), epsilon));
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline Tangent softmax_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::softmax(x);
  return {y, ops::tangents::of_softmax(y, d_x)};
}

inline Tangent layer_norm_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                      double epsilon, const Tensor& d_x, const Tensor& d_weight,
                                      const Tensor& d_bias, double d_epsilon) {
  const Tensor y = ops::layer_norm(x, weight, bias, epsilon);
  const Tensor c = ops::tangents::centered(x);
  const Tensor r = ops::tangents::reciprocal_rms(c, epsilon);
  const Tensor n = ops::mul(c, r);
  const Tensor d_n = ops::tangents::of_normalized(n, r, ops::tangents::centered(d_x), d_epsilon);
  const Tensor d_y =
      ops::tangents::plus(ops::tangents::times(d_n, weight), ops::tangents::times(d_weight, n));
  return {y, ops::tangents::plus(d_y, ops::tangents::shaped(d_bias, y))};
}

inline Tangent rms_norm_pushforward(const Tensor& x, const Tensor& weight, double epsilon, const Tensor& d_x,
                                    const Tensor& d_weight, double d_epsilon) {
  const Tensor r = ops::tangents::reciprocal_rms(x, epsilon);
  const Tensor n = ops::mul(x, r);
  const Tensor d_n = ops::tangents::of_normalized(n, r, d_x, d_epsilon);
  return {ops::rms_norm(x, weight, epsilon),
          ops::tangents::plus(ops::tangents::times(d_n, weight), ops::tangents::times(d_weight, n))};
}

/// Indices are integers and have no tangent.
inline Tangent embedding_pushforward(const Tensor& indices, const Tensor& weight, const Tensor&,
                                     const Tensor& d_weight) {
  if (!d_weight.defined()) return {ops::embedding(indices, weight), Tensor()};
  return {ops::embedding(indices, weight), ops::embedding(indices, d_weight)};
}

/// The mask is held fixed, so the probability has no tangent.
inline Tangent dropout_pushforward(const Tensor& x, double probability, const Tensor& d_x, double) {
  const Tensor mask = ops::dropout(ops::ones(x.shape(), x.dtype()), probability);
  return {ops::mul(x, mask), ops::tangents::times(d_x, mask)};
}

/// The angles are constants, so this throws Error for a tangent of `table`.
inline Tangent rotary_embedding_pushforward(const Tensor& x, const Tensor& table, const Tensor& d_x,
                                            const Tensor& d_table) {
  ops::require(!d_table.defined(), "rotary_embedding: the table of angles is a constant");
  if (!d_x.defined()) return {ops::rotary_embedding(x, table), Tensor()};
  return {ops::rotary_embedding(x, table), ops::rotary_embedding(d_x, table)};
}

}  // namespace clad::custom_derivatives::cladtorch
