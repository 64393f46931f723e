// Tangents of the fused operations, and of operations that only these use.
#pragma once

#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/pushforward/loss.h"
#include "cladtorch/ops/pushforward/pointwise.h"

namespace clad::custom_derivatives::cladtorch {

inline Tangent log_softmax_pushforward(const Tensor& x, const Tensor& d_x) {
  const Tensor y = ops::log_softmax(x);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::sub(d_x, ops::sum(ops::mul(ops::softmax(x), d_x), -1, true))};
}
inline Tangent nll_loss_pushforward(const Tensor& log_probabilities, const Tensor& targets,
                                    int64_t ignore_index, const Tensor& d_log_probabilities, const Tensor&) {
  const Tensor y = ops::nll_loss(log_probabilities, targets, ignore_index);
  if (!d_log_probabilities.defined()) return {y, Tensor()};
  const Tensor places = ops::tangents::target_places(targets, log_probabilities.size(-1), ignore_index,
                                                     log_probabilities.dtype());
  return {y, ops::scale(ops::sum(ops::mul(places, d_log_probabilities)), -1).to(y.dtype())};
}
inline Tangent causal_mask_pushforward(const Tensor& scores, const Tensor& d_scores) {
  if (!d_scores.defined()) return {ops::causal_mask(scores), Tensor()};
  return {ops::causal_mask(scores), ops::tril(d_scores)};
}
inline Tangent tril_pushforward(const Tensor& x, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::tril(x), Tensor()};
  return {ops::tril(x), ops::tril(d_x)};
}

inline Tangent linear_gelu_tanh_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                            const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias) {
  const Tangent linear = linear_pushforward(x, weight, bias, d_x, d_weight, d_bias);
  return pointwise_pushforward(::cladtorch::functions::GeluTanh{}, linear.value, linear.pushforward);
}
inline Tangent mlp_gelu_tanh_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                         const Tensor& projection, const Tensor& projection_bias,
                                         const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias,
                                         const Tensor& d_projection, const Tensor& d_projection_bias) {
  const Tangent hidden = linear_gelu_tanh_pushforward(x, weight, bias, d_x, d_weight, d_bias);
  return linear_pushforward(hidden.value, projection, projection_bias, hidden.pushforward, d_projection,
                            d_projection_bias);
}
inline ValueAndPushforward<NormalizedSum, NormalizedSum> add_layer_norm_pushforward(
    const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias, double epsilon,
    const Tensor& d_a, const Tensor& d_b, const Tensor& d_weight, const Tensor& d_bias, double d_epsilon) {
  const Tangent sum = add_pushforward(a, b, d_a, d_b);
  const Tangent normalized =
      layer_norm_pushforward(sum.value, weight, bias, epsilon, sum.pushforward, d_weight, d_bias, d_epsilon);
  return {{sum.value, normalized.value}, {sum.pushforward, normalized.pushforward}};
}
inline ValueAndPushforward<NormalizedSum, NormalizedSum> add_rms_norm_pushforward(
    const Tensor& a, const Tensor& b, const Tensor& weight, double epsilon, const Tensor& d_a,
    const Tensor& d_b, const Tensor& d_weight, double d_epsilon) {
  const Tangent sum = add_pushforward(a, b, d_a, d_b);
  const Tangent normalized =
      rms_norm_pushforward(sum.value, weight, epsilon, sum.pushforward, d_weight, d_epsilon);
  return {{sum.value, normalized.value}, {sum.pushforward, normalized.pushforward}};
}

}  // namespace clad::custom_derivatives::cladtorch
