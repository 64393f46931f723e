// Tangents of the steps of recurrent networks.
#pragma once

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/recurrent.h"

namespace cladtorch::tangents {

/// Columns [k n, (k + 1) n); undefined of an undefined x.
inline Tensor gate(const Tensor& x, int64_t k, int64_t n) {
  if (!x.defined()) return x;
  return x.narrow(1, k * n, n);
}
/// The slopes of sigmoid and tanh by their results.
inline Tensor slope_of_sigmoid(const Tensor& y) { return sub(y, mul(y, y)); }
inline Tensor slope_of_tanh(const Tensor& y) { return add_scalar(scale(mul(y, y), -1), 1); }

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline ValueAndPushforward<LstmStep, LstmStep> lstm_cell_pushforward(const Tensor& from_x,
                                                                     const Tensor& from_h, const Tensor& c,
                                                                     const Tensor& d_from_x,
                                                                     const Tensor& d_from_h,
                                                                     const Tensor& d_c) {
  const int64_t n = c.size(1);
  const Tensor p = ops::add(from_x, from_h), d_p = ops::tangents::plus(d_from_x, d_from_h);
  const Tensor i = ops::sigmoid(ops::tangents::gate(p, 0, n)), f = ops::sigmoid(ops::tangents::gate(p, 1, n));
  const Tensor g = ops::tanh(ops::tangents::gate(p, 2, n)), o = ops::sigmoid(ops::tangents::gate(p, 3, n));
  const Tensor d_i = ops::tangents::times(ops::tangents::gate(d_p, 0, n), ops::tangents::slope_of_sigmoid(i));
  const Tensor d_f = ops::tangents::times(ops::tangents::gate(d_p, 1, n), ops::tangents::slope_of_sigmoid(f));
  const Tensor d_g = ops::tangents::times(ops::tangents::gate(d_p, 2, n), ops::tangents::slope_of_tanh(g));
  const Tensor d_o = ops::tangents::times(ops::tangents::gate(d_p, 3, n), ops::tangents::slope_of_sigmoid(o));
  const Tensor next = ops::add(ops::mul(f, c), ops::mul(i, g));
  const Tensor d_next =
      ops::tangents::plus(ops::tangents::plus(ops::tangents::times(d_f, c), ops::tangents::times(d_c, f)),
                          ops::tangents::plus(ops::tangents::times(d_i, g), ops::tangents::times(d_g, i)));
  const Tensor t = ops::tanh(next);
  const Tensor d_h =
      ops::tangents::plus(ops::tangents::times(d_o, t),
                          ops::tangents::times(d_next, ops::mul(o, ops::tangents::slope_of_tanh(t))));
  return {{ops::mul(o, t), next}, {d_h, d_next}};
}

inline Tangent gru_cell_pushforward(const Tensor& from_x, const Tensor& from_h, const Tensor& h,
                                    const Tensor& d_from_x, const Tensor& d_from_h, const Tensor& d_h) {
  const int64_t n = h.size(1);
  const Tensor p = ops::add(from_x, from_h), d_p = ops::tangents::plus(d_from_x, d_from_h);
  const Tensor r = ops::sigmoid(ops::tangents::gate(p, 0, n)), z = ops::sigmoid(ops::tangents::gate(p, 1, n));
  const Tensor part = ops::tangents::gate(from_h, 2, n), d_part = ops::tangents::gate(d_from_h, 2, n);
  const Tensor candidate = ops::tanh(ops::add(ops::tangents::gate(from_x, 2, n), ops::mul(r, part)));
  const Tensor d_r = ops::tangents::times(ops::tangents::gate(d_p, 0, n), ops::tangents::slope_of_sigmoid(r));
  const Tensor d_z = ops::tangents::times(ops::tangents::gate(d_p, 1, n), ops::tangents::slope_of_sigmoid(z));
  const Tensor d_sum = ops::tangents::plus(
      ops::tangents::gate(d_from_x, 2, n),
      ops::tangents::plus(ops::tangents::times(d_r, part), ops::tangents::times(d_part, r)));
  const Tensor d_candidate = ops::tangents::times(d_sum, ops::tangents::slope_of_tanh(candidate));
  const Tensor difference = ops::sub(h, candidate);
  const Tensor y = ops::add(candidate, ops::mul(z, difference));
  const Tensor d_y =
      ops::tangents::plus(ops::tangents::plus(d_candidate, ops::tangents::times(d_z, difference)),
                          ops::tangents::times(ops::tangents::minus(d_h, d_candidate), z));
  return {y, d_y};
}

}  // namespace clad::custom_derivatives::cladtorch
