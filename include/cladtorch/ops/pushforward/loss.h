// Tangents of the losses. Those of a cross-entropy hold the scores of all tokens.
#pragma once

#include "cladtorch/ops/pushforward/layers.h"

namespace cladtorch::tangents {

/// The share of every target in the mean, which is 1 / number of targets, or 0 if it is ignored: [..., 1].
/// The second function puts the share at the target's place among `classes`, with 0 elsewhere: [...,
/// classes]. Both throw Error as the losses do.
Tensor target_shares(const Tensor& targets, int64_t classes, int64_t ignore_index, DType dtype);
Tensor target_places(const Tensor& targets, int64_t classes, int64_t ignore_index, DType dtype);

/// The tangent of the mean of -log softmax(logits)[target].
inline Tensor of_cross_entropy(const Tensor& logits, const Tensor& d_logits, const Tensor& targets,
                               int64_t ignore_index, DType dtype) {
  if (!d_logits.defined()) return Tensor();
  const int64_t classes = logits.size(-1);
  const Tensor shares = target_shares(targets, classes, ignore_index, logits.dtype());
  const Tensor places = target_places(targets, classes, ignore_index, logits.dtype());
  return sum(mul(sub(mul(softmax(logits), shares), places), d_logits)).to(dtype);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::tangents {
/// Integers have no derivative.
inline void target_shares_pullback(CLAD_UNUSED const Tensor&, int64_t, int64_t, ::cladtorch::DType, Tensor,
                                   Tensor*) {}
inline void target_places_pullback(CLAD_UNUSED const Tensor&, int64_t, int64_t, ::cladtorch::DType, Tensor,
                                   Tensor*) {}
}  // namespace clad::custom_derivatives::cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline Tangent cross_entropy_pushforward(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                         const Tensor& d_logits, const Tensor&) {
  const Tensor y = ops::cross_entropy(logits, targets, ignore_index);
  return {y, ops::tangents::of_cross_entropy(logits, d_logits, targets, ignore_index, y.dtype())};
}
inline Tangent linear_cross_entropy_pushforward(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                                int64_t ignore_index, const Tensor& d_x,
                                                const Tensor& d_weight, const Tensor&) {
  const Tensor y = ops::linear_cross_entropy(x, weight, targets, ignore_index);
  const Tensor d_logits =
      ops::tangents::plus(ops::tangents::product(d_x, weight), ops::tangents::product(x, d_weight));
  return {
      y, ops::tangents::of_cross_entropy(ops::linear(x, weight), d_logits, targets, ignore_index, y.dtype())};
}
inline Tangent mse_loss_pushforward(const Tensor& prediction, const Tensor& target,
                                    const Tensor& d_prediction, const Tensor& d_target) {
  const Tensor y = ops::mse_loss(prediction, target);
  const Tensor d = ops::tangents::minus(d_prediction, d_target);
  if (!d.defined()) return {y, Tensor()};
  const Tensor error = ops::sub(prediction, target);
  return {y, ops::scale(ops::mean(ops::mul(error, d)), 2)};
}

}  // namespace clad::custom_derivatives::cladtorch
