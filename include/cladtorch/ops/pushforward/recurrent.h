// Tangents of recurrent networks: of one step, and of all, which take the steps one by one.
#pragma once

#include <vector>

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/pushforward/views.h"
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

namespace cladtorch::tangents {

namespace pushforwards = ::clad::custom_derivatives::cladtorch;
using SequenceTangent = ::clad::ValueAndPushforward<RecurrentResult, RecurrentResult>;

/// The states of a network and how they move.
struct MovingState {
  Tensor h, c, d_h, d_c;
};

/// A step of each kind of network, from the linear parts and their tangents.
struct LstmMove {
  static MovingState step(const Tensor& from_x, const Tensor& from_h, const MovingState& at,
                          const Tensor& d_from_x, const Tensor& d_from_h) {
    const auto y = pushforwards::lstm_cell_pushforward(from_x, from_h, at.c, d_from_x, d_from_h, at.d_c);
    return {y.value.h, y.value.c, y.pushforward.h, y.pushforward.c};
  }
};
struct GruMove {
  static MovingState step(const Tensor& from_x, const Tensor& from_h, const MovingState& at,
                          const Tensor& d_from_x, const Tensor& d_from_h) {
    const auto y = pushforwards::gru_cell_pushforward(from_x, from_h, at.h, d_from_x, d_from_h, at.d_h);
    return {y.value, Tensor(), y.pushforward, Tensor()};
  }
};
struct TanhMove {
  static MovingState step(const Tensor& from_x, const Tensor& from_h, const MovingState&,
                          const Tensor& d_from_x, const Tensor& d_from_h) {
    const Tensor y = tanh(add(from_x, from_h));
    return {y, Tensor(), times(plus(d_from_x, d_from_h), slope_of_tanh(y)), Tensor()};
  }
};

/// Step t of x [T, ...]; undefined of an undefined x.
inline Tensor step_of(const Tensor& x, int64_t t) {
  if (!x.defined()) return x;
  return x.select(0, t);
}
inline Tensor or_zeros(const Tensor& x, const Tensor& like) {
  if (x.defined()) return x;
  return zeros(like.shape(), like.dtype());
}
/// 1 where step t belongs to a sequence, [N, 1].
CLAD_NONDIFFERENTIABLE inline Tensor steps_inside(const Tensor& lengths, int64_t t, DType dtype) {
  return clamp(add_scalar(lengths.to(dtype), -static_cast<double>(t)), 0, 1).unsqueeze(1);
}
/// `next` where `inside` is 1, else `before`.
inline Tensor moved(const Tensor& before, const Tensor& next, const Tensor& inside) {
  return add(before, mul(sub(next, before), inside));
}

/// Of a sequence; what is not given is undefined.
template <class Move>
SequenceTangent sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                         const MovingState& first, const Tensor& lengths, bool backward,
                         const Tensor& d_from_x, const Tensor& d_weight, const Tensor& d_bias) {
  const int64_t steps = from_x.size(0);
  const Shape states{from_x.size(1), weight.size(1)};
  const Tensor zero = zeros(states, from_x.dtype());
  MovingState at{first.h.defined() ? first.h : zero, first.c.defined() ? first.c : zero, first.d_h,
                 first.d_c};
  std::vector<Tensor> outputs, d_outputs;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = backward ? steps - 1 - i : i;
    const Tensor d_from_h = plus(plus(product(at.d_h, weight), product(at.h, d_weight)),
                                 d_bias.defined() ? d_bias.expand({states[0], d_bias.size(0)}) : Tensor());
    MovingState next =
        Move::step(from_x.select(0, t), linear(at.h, weight, bias), at, step_of(d_from_x, t), d_from_h);
    if (lengths.defined()) {
      const Tensor inside = steps_inside(lengths, t, from_x.dtype());
      outputs.push_back(mul(next.h, inside));
      d_outputs.push_back(mul(or_zeros(next.d_h, zero), inside));
      at.d_h = moved(or_zeros(at.d_h, zero), or_zeros(next.d_h, zero), inside);
      at.h = moved(at.h, next.h, inside);
      if (next.c.defined()) {
        at.d_c = moved(or_zeros(at.d_c, zero), or_zeros(next.d_c, zero), inside);
        at.c = moved(at.c, next.c, inside);
      }
    } else {
      outputs.push_back(next.h);
      d_outputs.push_back(or_zeros(next.d_h, zero));
      at = next;
    }
  }
  const Tensor y = stack(outputs), d_y = stack(d_outputs);
  return {{backward ? flip(y, 0) : y, at.h, at.c}, {backward ? flip(d_y, 0) : d_y, at.d_h, at.d_c}};
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline ValueAndPushforward<RecurrentResult, RecurrentResult> lstm_sequence_pushforward(
    const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h, const Tensor& c,
    const Tensor& lengths, bool backward, const Tensor& d_from_x, const Tensor& d_weight,
    const Tensor& d_bias, const Tensor& d_h, const Tensor& d_c, const Tensor&) {
  return ops::tangents::sequence<ops::tangents::LstmMove>(from_x, weight, bias, {h, c, d_h, d_c}, lengths,
                                                          backward, d_from_x, d_weight, d_bias);
}
inline ValueAndPushforward<RecurrentResult, RecurrentResult> gru_sequence_pushforward(
    const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h, const Tensor& lengths,
    bool backward, const Tensor& d_from_x, const Tensor& d_weight, const Tensor& d_bias, const Tensor& d_h,
    const Tensor&) {
  return ops::tangents::sequence<ops::tangents::GruMove>(from_x, weight, bias, {h, {}, d_h, {}}, lengths,
                                                         backward, d_from_x, d_weight, d_bias);
}
inline ValueAndPushforward<RecurrentResult, RecurrentResult> rnn_sequence_pushforward(
    const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h, const Tensor& lengths,
    bool backward, const Tensor& d_from_x, const Tensor& d_weight, const Tensor& d_bias, const Tensor& d_h,
    const Tensor&) {
  return ops::tangents::sequence<ops::tangents::TanhMove>(from_x, weight, bias, {h, {}, d_h, {}}, lengths,
                                                          backward, d_from_x, d_weight, d_bias);
}

}  // namespace clad::custom_derivatives::cladtorch
