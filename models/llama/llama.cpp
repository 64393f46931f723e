#include "cladtorch/models/llama.h"

#include <algorithm>

namespace cladtorch {
namespace {

struct Preset {
  std::string_view name;
  LlamaConfig config;
};

RotaryConfig llama3_rotary(double factor) {
  return {.theta = 500000, .scaling = RotaryScaling::llama3, .factor = factor};
}

/// Sizes as published in the config.json of each model.
const Preset presets[] = {
    {"llama-3.2-1b",
     {.vocab_size = 128256,
      .hidden_size = 2048,
      .intermediate_size = 8192,
      .num_hidden_layers = 16,
      .num_attention_heads = 32,
      .num_key_value_heads = 8,
      .max_position_embeddings = 131072,
      .rms_norm_eps = 1e-5,
      .rope = llama3_rotary(32),
      .tie_word_embeddings = true}},
    {"llama-3.1-8b",
     {.vocab_size = 128256,
      .hidden_size = 4096,
      .intermediate_size = 14336,
      .num_hidden_layers = 32,
      .num_attention_heads = 32,
      .num_key_value_heads = 8,
      .max_position_embeddings = 131072,
      .rms_norm_eps = 1e-5,
      .rope = llama3_rotary(8)}},
    {"mistral-7b",
     {.vocab_size = 32000,
      .hidden_size = 4096,
      .intermediate_size = 14336,
      .num_hidden_layers = 32,
      .num_attention_heads = 32,
      .num_key_value_heads = 8,
      .max_position_embeddings = 32768,
      .sliding_window = 4096,
      .rms_norm_eps = 1e-5}},
    {"tinyllama-1.1b",
     {.vocab_size = 32000,
      .hidden_size = 2048,
      .intermediate_size = 5632,
      .num_hidden_layers = 22,
      .num_attention_heads = 32,
      .num_key_value_heads = 4,
      .max_position_embeddings = 2048,
      .rms_norm_eps = 1e-5}},
    {"smollm2-135m",
     {.vocab_size = 49152,
      .hidden_size = 576,
      .intermediate_size = 1536,
      .num_hidden_layers = 30,
      .num_attention_heads = 9,
      .num_key_value_heads = 3,
      .max_position_embeddings = 8192,
      .rms_norm_eps = 1e-5,
      .rope = {.theta = 100000},
      .tie_word_embeddings = true}},
    // The sizes of GPT-2 124M in this architecture.
    {"llama-110m",
     {.vocab_size = 32000,
      .hidden_size = 768,
      .intermediate_size = 2048,
      .num_hidden_layers = 12,
      .num_attention_heads = 12,
      .max_position_embeddings = 1024,
      .rms_norm_eps = 1e-5,
      .tie_word_embeddings = true}},
    {"llama-toy",
     {.vocab_size = 65,
      .hidden_size = 32,
      .intermediate_size = 88,
      .num_hidden_layers = 2,
      .num_attention_heads = 4,
      .num_key_value_heads = 2,
      .max_position_embeddings = 64}},
};

}  // namespace

LlamaConfig llama_preset(std::string_view name) {
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset.config;
  }
  fail("llama_preset: unknown model '", name, "'; known are ", llama_preset_names());
}

std::string llama_preset_names() {
  std::string names;
  for (const Preset& preset : presets) names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

void validate(const LlamaConfig& config) {
  const auto positive = [](const char* field, auto value) {
    require(value > 0, "LlamaConfig: ", field, " must be positive, got ", value);
  };
  positive("vocab_size", config.vocab_size);
  positive("hidden_size", config.hidden_size);
  positive("intermediate_size", config.intermediate_size);
  positive("num_hidden_layers", config.num_hidden_layers);
  positive("num_attention_heads", config.num_attention_heads);
  positive("max_position_embeddings", config.max_position_embeddings);
  require(config.num_key_value_heads >= 0 && config.num_attention_heads % config.key_heads() == 0,
          "LlamaConfig: num_key_value_heads must divide num_attention_heads, got ",
          config.num_key_value_heads, " and ", config.num_attention_heads);
  require(
      config.head_dim >= 0 && (config.head_dim > 0 || config.hidden_size % config.num_attention_heads == 0),
      "LlamaConfig: without head_dim, hidden_size must be a multiple of num_attention_heads, got ",
      config.hidden_size, " and ", config.num_attention_heads);
  require(config.head_size() % 2 == 0, "LlamaConfig: the size of a head must be even, got ",
          config.head_size());
  require(config.sliding_window >= 0, "LlamaConfig: sliding_window must not be negative, got ",
          config.sliding_window);
  require(config.initializer_range >= 0, "LlamaConfig: initializer_range must not be negative, got ",
          config.initializer_range);
  positive("rms_norm_eps", config.rms_norm_eps);
  validate(config.rope);
  require(is_floating(config.dtype), "LlamaConfig: dtype must be float32, float64 or bfloat16, got ",
          config.dtype);
}

LlamaCache::LlamaCache(const LlamaConfig& config, int64_t batch, Device device) {
  const Shape empty{batch, 0, config.key_heads() * config.head_size()};
  for (int64_t i = 0; i < config.num_hidden_layers; ++i)
    layers.push_back({zeros(empty, config.dtype, device), zeros(empty, config.dtype, device)});
}

void LlamaCache::reserve(int64_t positions) {
  if (positions <= capacity()) return;
  constexpr int64_t least = 64;
  const int64_t grown = std::max({positions, 2 * capacity(), least});
  const auto grow = [&](Tensor& cached) {
    Tensor larger = zeros({cached.size(0), grown, cached.size(2)}, cached.dtype(), cached.device());
    larger.narrow(1, 0, length).copy_from(cached.narrow(1, 0, length));
    cached = larger;
  };
  for (nn::LlamaBlockCache& layer : layers) {
    grow(layer.keys);
    grow(layer.values);
  }
}

template <class L>
BasicLlama<L>::BasicLlama(const LlamaConfig& config, uint64_t seed) : config(config) {
  validate(config);
  rotary = RotaryFrequencies(config.rope, config.head_size());
  Random random(seed);
  model.embed_tokens =
      nn::Embedding(config.vocab_size, config.hidden_size, random, config.initializer_range, config.dtype);
  const nn::LlamaBlockConfig block{.channels = config.hidden_size,
                                   .hidden = config.intermediate_size,
                                   .heads = config.num_attention_heads,
                                   .key_heads = config.key_heads(),
                                   .head_size = config.head_size(),
                                   .window = config.sliding_window,
                                   .attention_bias = config.attention_bias,
                                   .mlp_bias = config.mlp_bias,
                                   .rms_norm_epsilon = config.rms_norm_eps,
                                   .deviation = config.initializer_range,
                                   .dtype = config.dtype};
  model.layers.reserve(static_cast<size_t>(config.num_hidden_layers));
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) model.layers.emplace_back(block, random);
  model.norm = nn::RMSNorm(config.hidden_size, config.rms_norm_eps, config.dtype);
  if (!config.tie_word_embeddings) {
    lm_head = nn::Linear(config.hidden_size, config.vocab_size, random, false, config.initializer_range,
                         config.dtype);
  }
}

template <class L>
BasicLlama<L> BasicLlama<L>::to(DType dtype) const {
  BasicLlama converted = *this;
  converted.config.dtype = dtype;
  validate(converted.config);
  return with_dtype(converted, dtype);
}

template <class L>
int64_t BasicLlama<L>::checked_length(const Tensor& ids) const {
  require(ids.dim() == 2, "Llama: expected token ids [B, T], got ", ids.shape());
  require(ids.size(1) <= config.max_position_embeddings, "Llama: ", ids.size(1),
          " tokens exceed max_position_embeddings = ", config.max_position_embeddings);
  return ids.size(1);
}

template <class L>
Tensor BasicLlama<L>::decode_hidden(const Tensor& ids, LlamaCache& cache) const {
  require(ids.dim() == 2 && ids.size(1) > 0, "Llama::decode: expected ids [B, T] with T > 0, got ",
          ids.shape());
  const int64_t length = ids.size(1), past = cache.length;
  require(past + length <= config.max_position_embeddings, "Llama::decode: ", past, " cached and ", length,
          " new tokens exceed max_position_embeddings = ", config.max_position_embeddings);
  cache.reserve(past + length);
  const Tensor table = rotary_table(rotary, past, length, ids.device());
  Tensor x = model.embed_tokens(ids);
  for (size_t i = 0; i < model.layers.size(); ++i)
    x = model.layers[i].decode(x, table, cache.layers[i], past);
  cache.length += length;
  return model.norm(x);
}

template <class L>
Tensor BasicLlama<L>::decode(const Tensor& ids, LlamaCache& cache) const {
  const Tensor hidden = decode_hidden(ids, cache);
  return linear(hidden.select(1, hidden.size(1) - 1), output_weight());
}

double flops_per_token(const LlamaConfig& config, int64_t context) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const double c = number(config.hidden_size), size = number(config.head_size());
  const double queries = number(config.num_attention_heads) * size, keys = number(config.key_heads()) * size;
  const double block = c * (2 * queries + 2 * keys + 3 * number(config.intermediate_size));
  const double matrices = number(config.num_hidden_layers) * block + number(config.vocab_size) * c;
  // Positions that one sees, on average: of the first W, W/2, and W from there on.
  const double t = number(context),
               w = config.sliding_window > 0 ? std::min(number(config.sliding_window), t) : t;
  const double seen = t > 0 ? w - w * w / (2 * t) : 0;
  return 6.0 * (matrices + number(config.num_hidden_layers) * 2 * queries * seen);
}

template struct BasicLlama<nn::Linear>;
template struct BasicLlama<nn::LoRALinear>;

}  // namespace cladtorch
