// Llama and Mistral. Sources: Touvron et al., "LLaMA: open and efficient foundation language models", 2023;
// Llama Team, "The Llama 3 herd of models", 2024; Jiang et al., "Mistral 7B", 2023.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <clad/checkpoint.h>

#include "cladtorch/models/loss.h"
#include "cladtorch/nn/nn.h"

namespace cladtorch {

/// The fields of the same name in Hugging Face's config.json mean the same.
struct LlamaConfig {
  int64_t vocab_size = 32000;
  int64_t hidden_size = 4096;
  int64_t intermediate_size = 11008;
  int64_t num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  int64_t num_key_value_heads = 0;         ///< 0: as many as num_attention_heads
  int64_t head_dim = 0;                    ///< 0: hidden_size / num_attention_heads
  int64_t max_position_embeddings = 2048;  ///< longest sequence
  int64_t sliding_window = 0;              ///< Mistral: positions that one sees, itself included; 0: all
  bool is_mistral = false;                 ///< Mistral also without a window, by name
  double rms_norm_eps = 1e-6;
  RotaryConfig rope = {};
  bool tie_word_embeddings = false;  ///< the output layer is the table of token embeddings
  bool attention_bias = false;
  bool mlp_bias = false;
  double initializer_range = 0.02;
  DType dtype = DType::float32;  ///< of parameters and activations: float32, float64 or bfloat16
  /// Keep only the input of each block for the backward pass, which runs the block again: less memory, more
  /// time, the same gradients.
  bool gradient_checkpointing = false;

  int64_t key_heads() const { return num_key_value_heads > 0 ? num_key_value_heads : num_attention_heads; }
  int64_t head_size() const { return head_dim > 0 ? head_dim : hidden_size / num_attention_heads; }
};

/// "llama-3.2-1b", "llama-3.1-8b", "mistral-7b", "tinyllama-1.1b", "smollm2-135m", "llama-110m" (12 layers of
/// 768 channels, as GPT-2 124M), or "llama-toy" (2 layers of 32 channels, 64 positions, 65 tokens). Throws
/// Error listing the names for any other.
LlamaConfig llama_preset(std::string_view name);
/// "llama-3.2-1b, llama-3.1-8b, ...".
std::string llama_preset_names();

/// Throws Error naming the field if the numbers do not make a model.
void validate(const LlamaConfig& config);

/// Keys and values of the positions seen so far, for every layer. It grows with them.
struct LlamaCache {
  std::vector<nn::LlamaBlockCache> layers;
  int64_t length = 0;

  LlamaCache(const LlamaConfig& config, int64_t batch, Device device = {});
  /// Makes room for `positions` positions, and at least doubles the room when it grows.
  void reserve(int64_t positions);
  int64_t capacity() const { return layers[0].keys.size(1); }
};

/// Everything but the output layer, a separate struct so that names are those of Hugging Face checkpoints.
template <class LinearLayer>
struct BasicLlamaBody {
  nn::Embedding embed_tokens;
  std::vector<nn::BasicLlamaBlock<LinearLayer>> layers;
  nn::RMSNorm norm;
  CLADTORCH_PARAMETERS(embed_tokens, layers, norm)
};

/// `LinearLayer` is nn::Linear or nn::LoRALinear.
template <class LinearLayer>
struct BasicLlama {
  BasicLlamaBody<LinearLayer> model;
  nn::Linear lm_head;  ///< undefined if the embeddings are tied
  RotaryFrequencies rotary;
  CLAD_CONSTANT LlamaConfig config;

  BasicLlama() = default;
  /// The initialization of transformers: weights normal(0, initializer_range), biases zero, norms one. The
  /// same seed gives the same model.
  explicit BasicLlama(const LlamaConfig& config, uint64_t seed = 42);

  /// Final hidden states [B, T, C] of int32 token ids [B, T].
  Tensor forward(const Tensor& ids) const {
    const Tensor table = rotary_table(rotary, 0, checked_length(ids), ids.device());
    Tensor x = model.embed_tokens(ids);
    for (const auto& layer : model.layers) {
      if (config.gradient_checkpointing)
        x = clad::checkpoint(layer.forward(x, table));
      else
        x = layer.forward(x, table);
    }
    return model.norm(x);
  }
  Tensor operator()(const Tensor& ids) const { return forward(ids); }

  /// Weight of the output layer, [vocab_size, C].
  const Tensor& output_weight() const {
    return config.tie_word_embeddings ? model.embed_tokens.weight : lm_head.weight;
  }

  /// Scores of the next token at every position, [B, T, vocab_size].
  Tensor logits(const Tensor& ids) const { return linear(forward(ids), output_weight()); }

  /// Inference: reads `ids` [B, T] after what the cache holds, appends to it, and returns the final hidden
  /// states [B, T, C]. Throws Error when max_position_embeddings is exceeded.
  Tensor decode_hidden(const Tensor& ids, LlamaCache& cache) const;
  /// The same, but returns the scores of the next token after the last of them, [B, vocab_size].
  Tensor decode(const Tensor& ids, LlamaCache& cache) const;

  /// The same model with parameters and activations of `dtype`; shares the parameters that have it already.
  BasicLlama to(DType dtype) const;

  /// T of ids [B, T]. Throws Error for another rank or more than max_position_embeddings.
  int64_t checked_length(const Tensor& ids) const;

  CLADTORCH_PARAMETERS(model, lm_head)
};

using Llama = BasicLlama<nn::Linear>;
/// A Llama whose linear layers may have adapters.
using LoRALlama = BasicLlama<nn::LoRALinear>;

/// The mean loss of loss.h.
template <class LinearLayer>
Tensor mean_loss(const BasicLlama<LinearLayer>& model, const Tensor& tokens, const Tensor& targets) {
  const Tensor hidden = model.forward(tokens);
  if (model.config.tie_word_embeddings)
    return linear_cross_entropy(hidden, model.model.embed_tokens.weight, targets, -100);
  return linear_cross_entropy(hidden, model.lm_head.weight, targets, -100);
}

/// Operations for one token in forward and backward, where a multiplication and an addition count as two: the
/// products with every matrix (one forward, two backward) and causal attention over half of `context`
/// positions, or over as many as the window leaves.
double flops_per_token(const LlamaConfig& config, int64_t context);

}  // namespace cladtorch
