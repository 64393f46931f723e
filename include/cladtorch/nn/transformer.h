// The blocks of a GPT-2: attention, MLP, and their residual block.
#pragma once

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

/// What the parts of a transformer block are made from.
struct BlockConfig {
  int64_t channels = 0;
  int64_t hidden = 0;  ///< width of the MLP; 0: four times channels
  int64_t heads = 1;
  double dropout = 0;
  bool bias = true;
  double layer_norm_epsilon = 1e-5;
  double residual_deviation = 0.02;  ///< initialization of the projections that add to the residual stream
  DType dtype = DType::float32;
};

/// Multi-head causal self-attention with one projection for queries, keys and values.
struct CausalSelfAttention {
  Linear c_attn, c_proj;
  Dropout resid_dropout;
  int64_t n_head = 1;

  CausalSelfAttention() = default;
  CausalSelfAttention(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const { return resid_dropout(c_proj(causal_attention(c_attn(x), n_head))); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  /// Inference: attends over `past` cached positions too and appends to the cache.
  Tensor decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const;
  CLADTORCH_PARAMETERS(c_attn, c_proj)
};

/// Two linear layers, four times as wide between them, around a GELU.
struct MLP {
  Linear c_fc, c_proj;
  Dropout dropout;

  MLP() = default;
  MLP(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const { return dropout(c_proj(gelu_tanh(c_fc(x)))); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(c_fc, c_proj)
};

/// Pre-norm residual block.
struct Block {
  LayerNorm ln_1, ln_2;
  CausalSelfAttention attn;
  MLP mlp;

  Block() = default;
  Block(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const {
    Tensor y = x + attn(ln_1(x));
    return y + mlp(ln_2(y));
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  Tensor decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const;
  CLADTORCH_PARAMETERS(ln_1, attn, ln_2, mlp)
};

}  // namespace cladtorch::nn
