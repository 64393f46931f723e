// A step holds the most in one of three moments. Each block has stored what its derivatives read, and
//     the loss:      the classifier holds its scores;
//     the MLP:       the backward pass of the last block is at its widest layer;
//     the attention: the same block is at its attention, which computes in float32.
// With recomputation each block has stored its input alone, and one of them all.
#include "train/plan/activations.h"

#include <algorithm>

#include "ops/linear_cross_entropy/linear_cross_entropy_kernel.h"

namespace cladtorch::train {
namespace {

/// Of one token in one block: numbers in the dtype of the step, and in float32.
struct Stored {
  double numbers = 0, statistics = 0;
};

struct Block {
  Stored stored;
  double mlp = 0, attention = 0;  ///< numbers beside those that are stored, in these moments
};

/// Stored: the input, both norms, queries, keys, values, attention and residual sum are 8 C, the MLP's two
/// are 2 I; in float32 the maxima of attention and two numbers of each norm.
Block gpt2_block(const GPT2Config& config) {
  const auto c = static_cast<double>(config.n_embd), inner = static_cast<double>(config.inner_size());
  return {.stored = {8 * c + 2 * inner, static_cast<double>(config.n_head) + 4},
          .mlp = inner + c,
          .attention = 20 * c - inner};
}

/// As above, with narrower keys and values; the MLP stores three, and a norm one number.
Block llama_block(const LlamaConfig& config) {
  const auto c = static_cast<double>(config.hidden_size),
             inner = static_cast<double>(config.intermediate_size);
  const auto keys = static_cast<double>(config.key_heads() * config.head_size());
  return {.stored = {6 * c + 2 * keys + 3 * inner, static_cast<double>(config.num_attention_heads) + 2},
          .mlp = 3 * inner,
          .attention = 10 * (c + keys)};
}

Block block_of(const LanguageModel& model) {
  if (const GPT2Config* gpt2 = config_if<GPT2Config>(model)) return gpt2_block(*gpt2);
  const LlamaConfig* llama = config_if<LlamaConfig>(model);
  require(llama != nullptr, "plan: activations are known of GPT-2 and Llama, not of ", model.type());
  return llama_block(*llama);
}

/// What the loss and its gradient need beside the rows that it reads.
template <class T>
double classifier_bytes(int64_t rows, int64_t vocabulary, int64_t channels) {
  const detail::ClassifierBlocks<T> blocks(rows, vocabulary, channels);
  const auto matrix = static_cast<double>(vocabulary);
  double bytes = static_cast<double>(detail::Classifier<T>::work(blocks.block_rows, vocabulary, channels));
  bytes += matrix * static_cast<double>(blocks.block_rows) * sizeof(T);
  bytes += static_cast<double>(rows * channels) * sizeof(T);
  if (blocks.count > 1) bytes += matrix * static_cast<double>(channels) * sizeof(float);
  return bytes;
}

}  // namespace

double activation_bytes(const LanguageModel& model, DType dtype, int64_t tokens) {
  const ModelSizes sizes = model.sizes();
  const Block block = block_of(model);
  const bool half = dtype == DType::bfloat16, recomputes = model.gradient_checkpointing();
  const auto element = static_cast<double>(size_of(dtype)), count = static_cast<double>(tokens),
             layers = static_cast<double>(sizes.layers), channels = static_cast<double>(sizes.channels);
  const double one = element * block.stored.numbers + sizeof(float) * block.stored.statistics;
  const double kept = recomputes ? layers * element * channels : layers * one;
  const double loss = half ? classifier_bytes<bfloat16>(tokens, sizes.vocab_size, sizes.channels)
                           : classifier_bytes<float>(tokens, sizes.vocab_size, sizes.channels);
  const double again = recomputes ? one : element * channels;  // the block itself, or the cotangent
  const double widest = std::max(block.mlp, half ? block.attention : 0);
  return std::max(count * (kept + 2 * element * channels) + loss, count * (kept + again + element * widest));
}

}  // namespace cladtorch::train
