#include "cladtorch/models/language_model.h"

namespace cladtorch {

std::string describe(const ModelSizes& sizes) {
  std::string text = std::to_string(sizes.layers) + " layers, " + std::to_string(sizes.heads) + " heads, ";
  if (sizes.key_value_heads != sizes.heads)
    text += std::to_string(sizes.key_value_heads) + " of keys and values, ";
  if (sizes.window > 0) text += "a window of " + std::to_string(sizes.window) + ", ";
  return text + std::to_string(sizes.channels) + " channels";
}

int64_t LanguageModel::parameter_count() const {
  int64_t count = 0;
  for (const NamedTensor& parameter : parameters()) count += parameter.tensor.numel();
  return count;
}

std::unique_ptr<Float8Layers> float8_layers(LanguageModel& model) {
  std::vector<Tensor> weights;
  for (const NamedLinear& linear : model.linear_layers()) weights.push_back(linear.layer->weight);
  auto layers = std::make_unique<Float8Layers>(std::move(weights));
  require(layers->layers() > 0, "float8: no linear layer of the model has extents that are multiples of ",
          Float8Scaling::multiple, "; use bf16");
  return layers;
}

ModelSizes sizes_of(const GPT2Config& config) {
  return {.vocab_size = config.vocab_size,
          .context = config.n_positions,
          .layers = config.n_layer,
          .heads = config.n_head,
          .key_value_heads = config.n_head,
          .channels = config.n_embd};
}

ModelSizes sizes_of(const LlamaConfig& config) {
  return {.vocab_size = config.vocab_size,
          .context = config.max_position_embeddings,
          .layers = config.num_hidden_layers,
          .heads = config.num_attention_heads,
          .key_value_heads = config.key_heads(),
          .channels = config.hidden_size,
          .window = config.sliding_window};
}

}  // namespace cladtorch
