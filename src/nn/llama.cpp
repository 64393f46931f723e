#include "cladtorch/nn/llama.h"

namespace cladtorch::nn {

template <class L>
BasicLlamaAttention<L>::BasicLlamaAttention(const LlamaBlockConfig& config, Random& random)
    : n_head(config.heads), window(config.window) {
  const auto projection = [&](int64_t in, int64_t out) {
    return L(in, out, random, config.attention_bias, config.deviation, config.dtype);
  };
  const int64_t queries = config.heads * config.head_size, keys = config.key_heads * config.head_size;
  q_proj = projection(config.channels, queries);
  k_proj = projection(config.channels, keys);
  v_proj = projection(config.channels, keys);
  o_proj = projection(queries, config.channels);
}

template <class L>
Tensor BasicLlamaAttention<L>::decode(const Tensor& x, const Tensor& table, LlamaBlockCache& cache,
                                      int64_t past) const {
  const Tensor q = rotary_embedding(q_proj(x), table), k = rotary_embedding(k_proj(x), table);
  return o_proj(cached_attention(q, k, v_proj(x), cache.keys, cache.values, past, n_head, window));
}

template <class L>
BasicLlamaMLP<L>::BasicLlamaMLP(const LlamaBlockConfig& config, Random& random)
    : gate_proj(config.channels, config.hidden, random, config.mlp_bias, config.deviation, config.dtype),
      up_proj(config.channels, config.hidden, random, config.mlp_bias, config.deviation, config.dtype),
      down_proj(config.hidden, config.channels, random, config.mlp_bias, config.deviation, config.dtype) {}

template <class L>
BasicLlamaBlock<L>::BasicLlamaBlock(const LlamaBlockConfig& config, Random& random)
    : self_attn(config, random),
      mlp(config, random),
      input_layernorm(config.channels, config.rms_norm_epsilon, config.dtype),
      post_attention_layernorm(config.channels, config.rms_norm_epsilon, config.dtype) {}

template <class L>
Tensor BasicLlamaBlock<L>::decode(const Tensor& x, const Tensor& table, LlamaBlockCache& cache,
                                  int64_t past) const {
  const Tensor y = x + self_attn.decode(input_layernorm(x), table, cache, past);
  return y + mlp(post_attention_layernorm(y));
}

template struct BasicLlamaBlock<Linear>;
template struct BasicLlamaBlock<LoRALinear>;

}  // namespace cladtorch::nn
