#include "cladtorch/nn/transformer.h"

#include <algorithm>
#include <utility>

namespace cladtorch::nn {
namespace {
constexpr double deviation = 0.02;

/// Of several names of one function the first is written.
constexpr std::pair<const char*, Activation> activation_names[] = {
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_accurate", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu", Activation::gelu_erf},
    {"gelu_python", Activation::gelu_erf},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu}};

int64_t hidden_size(const BlockConfig& config) {
  return config.hidden > 0 ? config.hidden : 4 * config.channels;
}
}  // namespace

const char* name_of(Activation kind) {
  const auto found =
      std::ranges::find(activation_names, kind, [](const auto& known) { return known.second; });
  return found->first;
}

std::optional<Activation> activation_named(std::string_view name) {
  for (const auto& [known, kind] : activation_names) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

template <class L>
BasicCausalSelfAttention<L>::BasicCausalSelfAttention(const BlockConfig& config, Random& random)
    : c_attn(config.channels, 3 * config.channels, random, config.bias, deviation, config.dtype),
      c_proj(config.channels, config.channels, random, config.bias, config.residual_deviation, config.dtype),
      resid_dropout{config.dropout},
      n_head(config.heads),
      score_factor(config.score_factor) {}

template <class L>
Tensor BasicCausalSelfAttention<L>::decode(const Tensor& x, Tensor& keys, Tensor& values,
                                           int64_t past) const {
  const Tensor qkv = c_attn(x);
  if (score_factor == 1) return c_proj(cached_attention(qkv, keys, values, past, n_head));
  const int64_t channels = qkv.size(2) / 3;
  const Tensor q = qkv.narrow(2, 0, channels) * score_factor;
  return c_proj(cached_attention(q, qkv.narrow(2, channels, channels), qkv.narrow(2, 2 * channels, channels),
                                 keys, values, past, n_head));
}

template <class L>
BasicMLP<L>::BasicMLP(const BlockConfig& config, Random& random)
    : c_fc(config.channels, hidden_size(config), random, config.bias, deviation, config.dtype),
      c_proj(hidden_size(config), config.channels, random, config.bias, config.residual_deviation,
             config.dtype),
      activation(config.activation),
      dropout{config.dropout} {}

template <class L>
Tensor BasicMLP<L>::decode(const Tensor& x) const {
  return fused_mlp(x, c_fc, activation, c_proj);
}

template <class L>
BasicBlock<L>::BasicBlock(const BlockConfig& config, Random& random)
    : ln_1(config.channels, config.bias, config.layer_norm_epsilon, config.dtype),
      ln_2(config.channels, config.bias, config.layer_norm_epsilon, config.dtype),
      attn(config, random),
      mlp(config, random) {}

template <class L>
Tensor BasicBlock<L>::decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const {
  const Tensor y = x + attn.decode(ln_1(x), keys, values, past);
  return y + mlp.decode(ln_2(y));
}

template struct BasicBlock<Linear>;
template struct BasicBlock<LoRALinear>;

}  // namespace cladtorch::nn
