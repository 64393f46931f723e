#include "cladtorch/nn/transformer.h"

namespace cladtorch::nn {
namespace {
constexpr double deviation = 0.02;

int64_t hidden_size(const BlockConfig& config) {
  return config.hidden > 0 ? config.hidden : 4 * config.channels;
}
}  // namespace

CausalSelfAttention::CausalSelfAttention(const BlockConfig& config, Random& random)
    : c_attn(config.channels, 3 * config.channels, random, config.bias, deviation, config.dtype),
      c_proj(config.channels, config.channels, random, config.bias, config.residual_deviation, config.dtype),
      resid_dropout{config.dropout},
      n_head(config.heads) {}

Tensor CausalSelfAttention::decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const {
  return c_proj(cached_attention(c_attn(x), keys, values, past, n_head));
}

MLP::MLP(const BlockConfig& config, Random& random)
    : c_fc(config.channels, hidden_size(config), random, config.bias, deviation, config.dtype),
      c_proj(hidden_size(config), config.channels, random, config.bias, config.residual_deviation,
             config.dtype),
      dropout{config.dropout} {}

Block::Block(const BlockConfig& config, Random& random)
    : ln_1(config.channels, config.bias, config.layer_norm_epsilon, config.dtype),
      ln_2(config.channels, config.bias, config.layer_norm_epsilon, config.dtype),
      attn(config, random),
      mlp(config, random) {}

Tensor Block::decode(const Tensor& x, Tensor& keys, Tensor& values, int64_t past) const {
  const Tensor y = x + attn.decode(ln_1(x), keys, values, past);
  return y + mlp(ln_2(y));
}

}  // namespace cladtorch::nn
