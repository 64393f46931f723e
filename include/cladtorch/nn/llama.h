// The blocks of a Llama: grouped-query attention with rotary positions, a gated MLP, and their residual
// block, of linear layers of the kinds Linear and LoRALinear.
#pragma once

#include "cladtorch/nn/lora.h"

namespace cladtorch::nn {

/// The configuration of a block.
struct LlamaBlockConfig {
  int64_t channels = 0;
  int64_t hidden = 0;     ///< width of the MLP
  int64_t heads = 1;      ///< of queries
  int64_t key_heads = 1;  ///< of keys and values; divides `heads`
  int64_t head_size = 0;
  int64_t window = 0;  ///< positions that one sees, including itself; 0 means all before it
  bool attention_bias = false;
  bool mlp_bias = false;
  double rms_norm_epsilon = 1e-6;
  double deviation = 0.02;  ///< initialization of all weights
  DType dtype = DType::float32;
};

/// Keys and values that a block has seen, [B, capacity, key_heads head_size] each.
struct LlamaBlockCache {
  Tensor keys, values;
};

/// Causal self-attention. The names of the members are those of Hugging Face checkpoints.
template <class LinearLayer>
struct BasicLlamaAttention {
  LinearLayer q_proj, k_proj, v_proj, o_proj;
  int64_t n_head = 1;
  int64_t window = 0;

  BasicLlamaAttention() = default;
  BasicLlamaAttention(const LlamaBlockConfig& config, Random& random);

  /// `table` is the result of rotary_table() for the positions of x.
  Tensor forward(const Tensor& x, const Tensor& table) const {
    const Tensor q = rotary_embedding(q_proj(x), table);
    const Tensor k = rotary_embedding(k_proj(x), table);
    return o_proj(causal_attention(q, k, v_proj(x), n_head, window));
  }
  /// For inference: also attends over `past` cached positions, and appends to the cache.
  Tensor decode(const Tensor& x, const Tensor& table, LlamaBlockCache& cache, int64_t past) const;
  CLADTORCH_PARAMETERS(q_proj, k_proj, v_proj, o_proj)
};

/// SwiGLU between linear layers.
template <class LinearLayer>
struct BasicLlamaMLP {
  LinearLayer gate_proj, up_proj, down_proj;

  BasicLlamaMLP() = default;
  BasicLlamaMLP(const LlamaBlockConfig& config, Random& random);

  Tensor forward(const Tensor& x) const { return down_proj(swiglu(gate_proj(x), up_proj(x))); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(gate_proj, up_proj, down_proj)
};

/// Pre-norm residual block.
template <class LinearLayer>
struct BasicLlamaBlock {
  BasicLlamaAttention<LinearLayer> self_attn;
  BasicLlamaMLP<LinearLayer> mlp;
  RMSNorm input_layernorm, post_attention_layernorm;

  BasicLlamaBlock() = default;
  BasicLlamaBlock(const LlamaBlockConfig& config, Random& random);

  Tensor forward(const Tensor& x, const Tensor& table) const {
    Tensor y = x + self_attn.forward(input_layernorm(x), table);
    return y + mlp(post_attention_layernorm(y));
  }
  Tensor decode(const Tensor& x, const Tensor& table, LlamaBlockCache& cache, int64_t past) const;
  CLADTORCH_PARAMETERS(self_attn, mlp, input_layernorm, post_attention_layernorm)
};

using LlamaAttention = BasicLlamaAttention<Linear>;
using LlamaMLP = BasicLlamaMLP<Linear>;
using LlamaBlock = BasicLlamaBlock<Linear>;

}  // namespace cladtorch::nn
