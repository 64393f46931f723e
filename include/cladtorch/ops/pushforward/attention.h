// Tangents of causal attention. Unlike the operation itself they hold the T x T probabilities of every head.
#pragma once

#include <cmath>

#include "cladtorch/ops/pushforward/layers.h"

namespace cladtorch::tangents {

/// The mask that is added to the scores [T, T]: 0 where position t sees position s, and elsewhere a number
/// that makes the probability 0.
Tensor attention_mask(int64_t length, int64_t window, DType dtype);

/// [B, T, heads D] as [B, heads, T, D], each head `repeat` times.
inline Tensor heads(const Tensor& x, int64_t count, int64_t repeat) {
  if (!x.defined()) return Tensor();
  const int64_t batch = x.size(0), length = x.size(1), size = x.size(2) / count;
  const Tensor split = x.reshape({batch, length, count, size}).transpose(1, 2);
  if (repeat == 1) return split;
  return split.unsqueeze(2)
      .expand({batch, count, repeat, length, size})
      .reshape({batch, count * repeat, length, size});
}

/// The tangent of softmax(q k^T / sqrt(D)) v, [B, T, n_head D].
inline Tensor of_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head, int64_t window,
                           const Tensor& d_q, const Tensor& d_k, const Tensor& d_v) {
  const int64_t batch = q.size(0), length = q.size(1), channels = q.size(2), size = channels / n_head;
  const int64_t key_heads = k.size(2) / size, repeat = n_head / key_heads;
  const double factor = 1 / std::sqrt(static_cast<double>(size));
  const Tensor queries = scale(heads(q, n_head, 1), factor),
               d_queries = scaled(heads(d_q, n_head, 1), factor);
  const Tensor keys = heads(k, key_heads, repeat), d_keys = heads(d_k, key_heads, repeat);
  const Tensor values = heads(v, key_heads, repeat), d_values = heads(d_v, key_heads, repeat);
  const Tensor mask = attention_mask(length, window, q.dtype());
  const Tensor p = softmax(add(matmul(queries, keys.transpose(2, 3)), mask));
  Tensor d_scores = matrix_product(d_queries, keys.transpose(2, 3));
  if (d_keys.defined()) d_scores = plus(d_scores, matmul(queries, d_keys.transpose(2, 3)));
  const Tensor d_y = plus(matrix_product(of_softmax(p, d_scores), values), matrix_product(p, d_values));
  if (!d_y.defined()) return Tensor();
  return d_y.transpose(1, 2).reshape({batch, length, channels});
}

inline Tensor part(const Tensor& qkv, int64_t index) {
  if (!qkv.defined()) return Tensor();
  const int64_t channels = qkv.size(2) / 3;
  return qkv.narrow(2, index * channels, channels);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline Tangent causal_attention_pushforward(const Tensor& qkv, int64_t n_head, const Tensor& d_qkv) {
  return {ops::causal_attention(qkv, n_head),
          ops::tangents::of_attention(ops::tangents::part(qkv, 0), ops::tangents::part(qkv, 1),
                                      ops::tangents::part(qkv, 2), n_head, 0, ops::tangents::part(d_qkv, 0),
                                      ops::tangents::part(d_qkv, 1), ops::tangents::part(d_qkv, 2))};
}
inline Tangent causal_attention_pushforward(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                                            int64_t window, const Tensor& d_q, const Tensor& d_k,
                                            const Tensor& d_v) {
  return {ops::causal_attention(q, k, v, n_head, window),
          ops::tangents::of_attention(q, k, v, n_head, window, d_q, d_k, d_v)};
}

}  // namespace clad::custom_derivatives::cladtorch
