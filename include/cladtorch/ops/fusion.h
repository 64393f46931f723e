// Fusion rules: if a differentiated model uses the operations on the left, the compiler calls those on the
// right instead (docs/fusion.md). Include this header where you call clad::gradient.
//
//   nll_loss(log_softmax(x), t), nll_loss(log(softmax(x)), t)      cross_entropy
//   cross_entropy(linear(x, w), t)                                 linear_cross_entropy
//   gelu_tanh(linear(x, w, b))                                     linear_gelu_tanh
//   linear(gelu_tanh(linear(x, w, b)), p, c)                       mlp_gelu_tanh
//   layer_norm(a + b, w, b), and a + b                             add_layer_norm
//   rms_norm(a + b, w), and a + b                                  add_rms_norm
//   x * sigmoid(x), silu(gate) * up                                silu, swiglu
//   x * rsqrt(mean(x * x, -1, true) + epsilon) * w                 rms_norm
//   softmax(causal_mask(q k^T / sqrt(D))) v, with heads            causal_attention
#pragma once

#include <clad/fusion.h>

#include <cmath>

#include "cladtorch/ops/ops.h"

namespace cladtorch::fusion {

CLAD_PATTERN(cross_entropy)
inline Tensor log_softmax_nll(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  return nll_loss(log_softmax(logits), targets, ignore_index);
}
CLAD_PATTERN(cross_entropy)
inline Tensor softmax_log_nll(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  return nll_loss(log(softmax(logits)), targets, ignore_index);
}
CLAD_PATTERN(linear_cross_entropy)
inline Tensor linear_then_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                        int64_t ignore_index) {
  return cross_entropy(linear(x, weight), targets, ignore_index);
}

CLAD_PATTERN(linear_gelu_tanh)
inline Tensor linear_then_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return gelu_tanh(linear(x, weight, bias));
}

CLAD_PATTERN(mlp_gelu_tanh)
inline Tensor linear_then_gelu_tanh_then_linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                                const Tensor& projection, const Tensor& projection_bias) {
  return linear(gelu_tanh(linear(x, weight, bias)), projection, projection_bias);
}

CLAD_PATTERN(add_layer_norm)
inline NormalizedSum add_then_layer_norm(const Tensor& a, const Tensor& b, const Tensor& weight,
                                         const Tensor& bias, double epsilon) {
  const Tensor sum = add(a, b);
  return {sum, layer_norm(sum, weight, bias, epsilon)};
}

CLAD_PATTERN(add_rms_norm)
inline NormalizedSum add_then_rms_norm(const Tensor& a, const Tensor& b, const Tensor& weight,
                                       double epsilon) {
  const Tensor sum = add(a, b);
  return {sum, rms_norm(sum, weight, epsilon)};
}

CLAD_PATTERN(silu)
inline Tensor times_sigmoid(const Tensor& x) { return mul(x, sigmoid(x)); }

CLAD_PATTERN(gated)
inline Tensor gated_by_parts(const Tensor& gate, const Tensor& up) { return mul(silu(gate), up); }
inline Tensor gated(const Tensor& gate, const Tensor& up) {
  if (gate.shape() == up.shape()) return swiglu(gate, up);
  return gated_by_parts(gate, up);
}

CLAD_PATTERN(root_mean_square_norm)
inline Tensor root_mean_square_norm_by_parts(const Tensor& x, const Tensor& weight, double epsilon) {
  return mul(mul(x, rsqrt(add_scalar(mean(mul(x, x), -1, true), epsilon))), weight);
}
inline Tensor root_mean_square_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  if (weight.shape() == Shape{x.size(-1)}) return rms_norm(x, weight, epsilon);
  return root_mean_square_norm_by_parts(x, weight, epsilon);
}

/// softmax(causal_mask(factor q k^T)) v with heads side by side: q, k and v are [batch, length, heads size].
CLAD_PATTERN(separate_attention)
inline Tensor separate_attention_by_parts(const Tensor& q, const Tensor& k, const Tensor& v, int64_t batch,
                                          int64_t length, int64_t heads, int64_t size, int64_t channels,
                                          CLAD_CONSTANT double factor) {
  const Tensor queries = q.reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor keys = k.reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor values = v.reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor scores = scale(matmul(queries, keys.transpose(2, 3)), factor);
  return matmul(softmax(causal_mask(scores)), values).transpose(1, 2).reshape({batch, length, channels});
}
/// The same with queries, keys and values side by side.
CLAD_PATTERN(packed_attention)
inline Tensor packed_attention_by_parts(const Tensor& qkv, int64_t batch, int64_t length, int64_t heads,
                                        int64_t size, int64_t channels, int64_t values_from,
                                        CLAD_CONSTANT double factor) {
  const Tensor queries = qkv.narrow(2, 0, channels).reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor keys = qkv.narrow(2, channels, channels).reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor values =
      qkv.narrow(2, values_from, channels).reshape({batch, length, heads, size}).transpose(1, 2);
  const Tensor scores = scale(matmul(queries, keys.transpose(2, 3)), factor);
  return matmul(softmax(causal_mask(scores)), values).transpose(1, 2).reshape({batch, length, channels});
}

/// Whether the scores have the factor that causal_attention gives them.
inline bool is_usual_factor(double factor, int64_t size) {
  return std::abs(factor * std::sqrt(static_cast<double>(size)) - 1) < 1e-12;
}

inline Tensor separate_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t batch,
                                 int64_t length, int64_t heads, int64_t size, int64_t channels,
                                 double factor) {
  const Shape shape{batch, length, heads * size};
  const bool fits =
      channels == heads * size && q.shape() == shape && k.shape() == shape && v.shape() == shape;
  if (fits && is_usual_factor(factor, size)) return causal_attention(q, k, v, heads);
  return separate_attention_by_parts(q, k, v, batch, length, heads, size, channels, factor);
}
inline Tensor packed_attention(const Tensor& qkv, int64_t batch, int64_t length, int64_t heads, int64_t size,
                               int64_t channels, int64_t values_from, double factor) {
  const bool fits = channels == heads * size && values_from == 2 * channels &&
                    qkv.shape() == Shape{batch, length, 3 * channels};
  if (fits && is_usual_factor(factor, size)) return causal_attention(qkv, heads);
  return packed_attention_by_parts(qkv, batch, length, heads, size, channels, values_from, factor);
}

}  // namespace cladtorch::fusion
