// Attention of any positions to any others, and the layers of the transformer that use it, for x [N, T, C]:
// those of PyTorch with batch_first=True and the names of their parameters.
#pragma once

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

/// Attention with several heads. Source: Vaswani et al., "Attention is all you need", 2017.
struct MultiheadAttention {
  Tensor in_proj_weight;  ///< [3 C, C]: of queries, keys and values
  Tensor in_proj_bias;    ///< [3 C]
  Linear out_proj;
  int64_t heads = 1;
  Dropout dropout;  ///< of the weights

  MultiheadAttention() = default;
  MultiheadAttention(int64_t channels, int64_t heads, Random& random, double dropout = 0,
                     DType dtype = DType::float32);

  /// Of each position of `query` [N, T, C] to those of `key` and `value` [N, S, C]. `mask` is added to the
  /// scores and broadcasts to [N, heads, T, S]: -infinity hides a position; undefined hides none.
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask = {}) const {
    const int64_t channels = query.size(2);
    const Tensor q =
        linear(query, in_proj_weight.narrow(0, 0, channels), in_proj_bias.narrow(0, 0, channels));
    const Tensor k =
        linear(key, in_proj_weight.narrow(0, channels, channels), in_proj_bias.narrow(0, channels, channels));
    const Tensor v = linear(value, in_proj_weight.narrow(0, 2 * channels, channels),
                            in_proj_bias.narrow(0, 2 * channels, channels));
    return attend(q, k, v, mask);
  }
  /// Of x to itself: one product for queries, keys and values.
  Tensor self(const Tensor& x, const Tensor& mask = {}) const {
    const int64_t channels = x.size(2);
    const Tensor qkv = linear(x, in_proj_weight, in_proj_bias);
    return attend(qkv.narrow(2, 0, channels), qkv.narrow(2, channels, channels),
                  qkv.narrow(2, 2 * channels, channels), mask);
  }
  CLADTORCH_PARAMETERS(in_proj_weight, in_proj_bias, out_proj)

 private:
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) const {
    const Tensor y = scaled_dot_product_attention(split_heads(q), split_heads(k), split_heads(v), mask,
                                                  dropout.probability);
    return out_proj(y.transpose(1, 2).reshape({q.size(0), q.size(1), q.size(2)}));
  }
  /// [N, T, C] to [N, heads, T, C / heads].
  Tensor split_heads(const Tensor& x) const {
    return x.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  }
};

struct TransformerLayerOptions {
  int64_t hidden = 2048;  ///< of the feed-forward part
  double dropout = 0.1;
  bool gelu = false;        ///< instead of ReLU
  bool norm_first = false;  ///< normalizes what enters each part, not each sum
  DType dtype = DType::float32;
};

namespace detail {
/// The feed-forward part of an encoder's or a decoder's layer.
template <class Layer>
Tensor feed_forward(const Layer& layer, const Tensor& x) {
  const Tensor h = layer.linear1(x);
  return layer.dropout(layer.linear2(layer.dropout(layer.gelu ? gelu_erf(h) : relu(h))));
}
}  // namespace detail

/// Attention to itself and a feed-forward part, each with a residual connection.
struct TransformerEncoderLayer {
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  Dropout dropout;
  bool gelu = false, norm_first = false;

  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(int64_t channels, int64_t heads, Random& random,
                          const TransformerLayerOptions& options = {});

  Tensor forward(const Tensor& x, const Tensor& mask = {}) const {
    if (norm_first) {
      const Tensor y = x + dropout(self_attn.self(norm1(x), mask));
      return y + detail::feed_forward(*this, norm2(y));
    }
    const Tensor y = norm1(x + dropout(self_attn.self(x, mask)));
    return norm2(y + detail::feed_forward(*this, y));
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(self_attn, linear1, linear2, norm1, norm2)
};

/// The same with attention to `memory`, what an encoder made, in between.
struct TransformerDecoderLayer {
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;
  bool gelu = false, norm_first = false;

  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(int64_t channels, int64_t heads, Random& random,
                          const TransformerLayerOptions& options = {});

  /// x [N, T, C] and memory [N, S, C]; the masks are those of attention to x and to the memory.
  Tensor forward(const Tensor& x, const Tensor& memory, const Tensor& mask = {},
                 const Tensor& memory_mask = {}) const {
    if (norm_first) {
      const Tensor a = x + dropout(self_attn.self(norm1(x), mask));
      const Tensor b = a + dropout(multihead_attn.forward(norm2(a), memory, memory, memory_mask));
      return b + detail::feed_forward(*this, norm3(b));
    }
    const Tensor a = norm1(x + dropout(self_attn.self(x, mask)));
    const Tensor b = norm2(a + dropout(multihead_attn.forward(a, memory, memory, memory_mask)));
    return norm3(b + detail::feed_forward(*this, b));
  }
  CLADTORCH_PARAMETERS(self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3)
};

/// A mask [T, S] under which position t of T sees positions up to itself: -infinity above the diagonal, else
/// 0. As nn.Transformer.generate_square_subsequent_mask for T = S.
Tensor square_subsequent_mask(int64_t length, DType dtype = DType::float32);

/// A mask [N, 1, 1, S] that hides what lies behind the lengths, int32 [N].
Tensor padding_mask(const Tensor& lengths, int64_t length, DType dtype = DType::float32);

/// Positions as sines and cosines [T, C]: sin(t / 10000^(i / C)) for even i, and the cosine of the one before
/// for odd i. Source: Vaswani et al., 2017.
Tensor sinusoidal_positions(int64_t length, int64_t channels, DType dtype = DType::float32);

}  // namespace cladtorch::nn
