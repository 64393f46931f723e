// The blocks of a GPT-2: attention, MLP, and their residual block.
#pragma once

#include <optional>
#include <string_view>

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

/// The nonlinearity of an MLP.
enum class Activation { gelu_tanh, gelu_erf, relu, silu };
/// Its name in transformers: "gelu_new", "gelu", "relu" or "silu".
const char* name_of(Activation kind);
/// The nonlinearity with this name in transformers, where some have several names; nothing for any other
/// name.
std::optional<Activation> activation_named(std::string_view name);

inline Tensor activate(Activation kind, const Tensor& x) {
  if (kind == Activation::gelu_erf) return gelu_erf(x);
  if (kind == Activation::relu) return relu(x);
  if (kind == Activation::silu) return silu(x);
  return gelu_tanh(x);
}

/// The configuration of a transformer block.
struct BlockConfig {
  int64_t channels = 0;
  int64_t hidden = 0;  ///< width of the MLP; 0: four times channels
  int64_t heads = 1;
  Activation activation = Activation::gelu_tanh;
  double score_factor = 1;  ///< of attention's scores, in addition to 1 / sqrt(head size)
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
  CLAD_CONSTANT double score_factor = 1;

  CausalSelfAttention() = default;
  CausalSelfAttention(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const { return resid_dropout(c_proj(attend(c_attn(x)))); }
  Tensor operator()(const Tensor& x) const { return forward(x); }

  /// Attention of queries, keys and values side by side, [B, T, 3C].
  Tensor attend(const Tensor& qkv) const {
    if (score_factor == 1) return causal_attention(qkv, n_head);
    const int64_t channels = qkv.size(2) / 3;
    const Tensor q = qkv.narrow(2, 0, channels) * score_factor;
    return causal_attention(q, qkv.narrow(2, channels, channels), qkv.narrow(2, 2 * channels, channels),
                            n_head);
  }
  /// For inference: also attends over `past` cached positions, and appends to the cache.
  Tensor decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const;
  CLADTORCH_PARAMETERS(c_attn, c_proj)
};

/// Two linear layers with a nonlinearity between them; by default the hidden layer is four times as wide.
struct MLP {
  Linear c_fc, c_proj;
  Activation activation = Activation::gelu_tanh;
  Dropout dropout;

  MLP() = default;
  MLP(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const {
    if (activation == Activation::gelu_tanh && c_fc.is_plain() && c_proj.is_plain())
      return dropout(mlp_gelu_tanh(x, c_fc.weight, c_fc.bias, c_proj.weight, c_proj.bias));
    return dropout(c_proj(activate(activation, c_fc(x))));
  }
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
