// The blocks of a GPT-2: attention, MLP, and their residual block, of linear layers of the kinds Linear and
// LoRALinear.
#pragma once

#include <optional>
#include <string_view>

#include <clad/fusion.h>

#include "cladtorch/nn/lora.h"

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

// What is called in the place of an MLP's layers, by decode() and, for these fusion rules, in derivatives:
// the nonlinearity and whether there are adapters are known only when the program runs.

CLAD_PATTERN(fused_mlp)
inline Tensor mlp(const Tensor& x, const Linear& c_fc, Activation activation, const Linear& c_proj) {
  return c_proj.forward(activate(activation, c_fc.forward(x)));
}
inline Tensor fused_mlp(const Tensor& x, const Linear& c_fc, Activation activation, const Linear& c_proj) {
  if (activation == Activation::gelu_tanh)
    return mlp_gelu_tanh(x, c_fc.weight, c_fc.bias, c_proj.weight, c_proj.bias);
  return mlp(x, c_fc, activation, c_proj);
}

CLAD_PATTERN(fused_mlp)
inline Tensor lora_mlp(const Tensor& x, const LoRALinear& c_fc, Activation activation,
                       const LoRALinear& c_proj) {
  return c_proj.forward(activate(activation, c_fc.forward(x)));
}
inline Tensor fused_mlp(const Tensor& x, const LoRALinear& c_fc, Activation activation,
                        const LoRALinear& c_proj) {
  if (c_fc.has_lora() || c_proj.has_lora()) return lora_mlp(x, c_fc, activation, c_proj);
  return fused_mlp(x, static_cast<const Linear&>(c_fc), activation, static_cast<const Linear&>(c_proj));
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
template <class LinearLayer>
struct BasicCausalSelfAttention {
  LinearLayer c_attn, c_proj;
  Dropout resid_dropout;
  int64_t n_head = 1;
  CLAD_CONSTANT double score_factor = 1;

  BasicCausalSelfAttention() = default;
  BasicCausalSelfAttention(const BlockConfig& config, Random& random);

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
template <class LinearLayer>
struct BasicMLP {
  LinearLayer c_fc, c_proj;
  Activation activation = Activation::gelu_tanh;
  Dropout dropout;

  BasicMLP() = default;
  BasicMLP(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const { return dropout(c_proj(activate(activation, c_fc(x)))); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  /// For inference: forward() without dropout.
  Tensor decode(const Tensor& x) const;
  CLADTORCH_PARAMETERS(c_fc, c_proj)
};

/// Pre-norm residual block.
template <class LinearLayer>
struct BasicBlock {
  LayerNorm ln_1, ln_2;
  BasicCausalSelfAttention<LinearLayer> attn;
  BasicMLP<LinearLayer> mlp;

  BasicBlock() = default;
  BasicBlock(const BlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const {
    Tensor y = x + attn(ln_1(x));
    return y + mlp(ln_2(y));
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  Tensor decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const;
  CLADTORCH_PARAMETERS(ln_1, attn, ln_2, mlp)
};

using CausalSelfAttention = BasicCausalSelfAttention<Linear>;
using MLP = BasicMLP<Linear>;
using Block = BasicBlock<Linear>;

}  // namespace cladtorch::nn
