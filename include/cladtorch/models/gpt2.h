// GPT-2. Source: Radford et al., "Language models are unsupervised multitask learners", 2019.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <clad/checkpoint.h>

#include "cladtorch/models/loss.h"
#include "cladtorch/nn/nn.h"

namespace cladtorch {

struct GPT2Config {
  int64_t vocab_size = 50257;
  int64_t n_positions = 1024;  ///< longest sequence
  int64_t n_layer = 12;
  int64_t n_head = 12;
  int64_t n_embd = 768;
  int64_t n_inner = 0;  ///< width of the MLP; 0: four times n_embd
  nn::Activation activation = nn::Activation::gelu_tanh;
  bool scale_attn_weights = true;                ///< divide attention's scores by sqrt(n_embd / n_head)
  bool scale_attn_by_inverse_layer_idx = false;  ///< and by the number of the block, from 1
  double dropout = 0;
  bool bias = true;
  double layer_norm_epsilon = 1e-5;
  bool tie_word_embeddings = true;  ///< the output layer is the table of token embeddings
  DType dtype = DType::float32;     ///< of parameters and activations: float32, float64 or bfloat16
  /// Keep only the input of each block for the backward pass, which runs the block again: less memory, more
  /// time, the same gradients.
  bool gradient_checkpointing = false;

  int64_t inner_size() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
  /// The factor of attention's scores in block `layer`, in addition to 1 / sqrt(n_embd / n_head).
  double score_factor(int64_t layer) const;
};

/// "gpt2" (124M), "gpt2-medium" (355M), "gpt2-large" (774M), "gpt2-xl" (1558M), or "toy" (2 layers of 32
/// channels, 64 positions, 65 tokens). Throws Error listing the names for any other.
GPT2Config gpt2_preset(std::string_view name);

/// Throws Error naming the field if the numbers do not make a model.
void validate(const GPT2Config& config);

/// Keys and values of the positions seen so far, per layer [B, n_positions, C].
struct KVCache {
  std::vector<Tensor> keys, values;
  int64_t length = 0;

  KVCache(const GPT2Config& config, int64_t batch, Device device = {});
};

/// `LinearLayer` is nn::Linear or nn::LoRALinear.
template <class LinearLayer>
struct BasicGPT2 {
  nn::Embedding wte, wpe;
  nn::Dropout embedding_dropout;
  std::vector<nn::BasicBlock<LinearLayer>> h;
  nn::LayerNorm ln_f;
  nn::Linear lm_head;  ///< undefined if the embeddings are tied
  CLAD_CONSTANT GPT2Config config;

  BasicGPT2() = default;
  /// GPT-2's initialization: weights normal(0, 0.02), those of residual projections divided by sqrt(2
  /// n_layer), biases zero, norms one. The same seed gives the same model.
  explicit BasicGPT2(const GPT2Config& config, uint64_t seed = 42);

  /// Final hidden states [B, T, C] of int32 token ids [B, T].
  Tensor forward(const Tensor& ids) const {
    Tensor x = embedding_dropout(wte(ids) + wpe(arange(checked_length(ids), DType::int32, ids.device())));
    for (const auto& block : h) {
      if (config.gradient_checkpointing)
        x = clad::checkpoint(block.forward(x));
      else
        x = block.forward(x);
    }
    return ln_f(x);
  }
  Tensor operator()(const Tensor& ids) const { return forward(ids); }

  /// Weight of the output layer, [vocab_size, C].
  const Tensor& output_weight() const { return config.tie_word_embeddings ? wte.weight : lm_head.weight; }

  /// Scores of the next token at every position, [B, T, vocab_size].
  Tensor logits(const Tensor& ids) const { return linear(forward(ids), output_weight()); }

  /// Inference: reads `ids` [B, T] after what the cache holds, appends to it, and returns the final hidden
  /// states [B, T, C]. Throws Error when n_positions is exceeded.
  Tensor decode_hidden(const Tensor& ids, KVCache& cache) const;
  /// The same, but returns the scores of the next token after the last of them, [B, vocab_size].
  Tensor decode(const Tensor& ids, KVCache& cache) const;

  /// The same model with parameters and activations of `dtype`; shares the parameters that have it already.
  BasicGPT2 to(DType dtype) const;

  /// T of ids [B, T]. Throws Error for another rank or more than n_positions.
  int64_t checked_length(const Tensor& ids) const;

  CLADTORCH_PARAMETERS(wte, wpe, h, ln_f, lm_head)
};

using GPT2 = BasicGPT2<nn::Linear>;
/// A GPT-2 whose linear layers may have adapters.
using LoRAGPT2 = BasicGPT2<nn::LoRALinear>;

/// The mean loss of loss.h.
template <class LinearLayer>
Tensor mean_loss(const BasicGPT2<LinearLayer>& model, const Tensor& tokens, const Tensor& targets) {
  const Tensor hidden = model.forward(tokens);
  if (model.config.tie_word_embeddings) return linear_cross_entropy(hidden, model.wte.weight, targets, -100);
  return linear_cross_entropy(hidden, model.lm_head.weight, targets, -100);
}

/// The C++ that the compiler wrote for the gradient of a GPT2. Present only in builds with the plugin.
const char* loss_gradient_code();

/// Operations for one token in forward and backward, where a multiplication and an addition count as two: the
/// products with every matrix (one forward, two backward) and causal attention over half of `context`
/// positions.
double flops_per_token(const GPT2Config& config, int64_t context);

}  // namespace cladtorch
