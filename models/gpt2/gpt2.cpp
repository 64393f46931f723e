#include "cladtorch/models/gpt2.h"

#include <cmath>

namespace cladtorch {
namespace {

struct Preset {
  std::string_view name;
  GPT2Config config;
};

const Preset presets[] = {
    {"gpt2", {}},
    {"gpt2-medium", {.n_layer = 24, .n_head = 16, .n_embd = 1024}},
    {"gpt2-large", {.n_layer = 36, .n_head = 20, .n_embd = 1280}},
    {"gpt2-xl", {.n_layer = 48, .n_head = 25, .n_embd = 1600}},
    {"toy", {.vocab_size = 65, .n_positions = 64, .n_layer = 2, .n_head = 4, .n_embd = 32}},
};

}  // namespace

GPT2Config gpt2_preset(std::string_view name) {
  std::string names;
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset.config;
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  fail("gpt2_preset: unknown model '", name, "'; known are ", names);
}

void validate(const GPT2Config& config) {
  const auto positive = [](const char* field, int64_t value) {
    require(value > 0, "GPT2Config: ", field, " must be positive, got ", value);
  };
  positive("vocab_size", config.vocab_size);
  positive("n_positions", config.n_positions);
  positive("n_layer", config.n_layer);
  positive("n_head", config.n_head);
  positive("n_embd", config.n_embd);
  require(config.n_inner >= 0, "GPT2Config: n_inner must be positive, or 0 for 4 n_embd, got ",
          config.n_inner);
  require(config.n_embd % config.n_head == 0, "GPT2Config: n_embd must be a multiple of n_head, got ",
          config.n_embd, " and ", config.n_head);
  require(config.dropout >= 0 && config.dropout < 1, "GPT2Config: dropout must be in [0, 1), got ",
          config.dropout);
  require(config.layer_norm_epsilon > 0, "GPT2Config: layer_norm_epsilon must be positive, got ",
          config.layer_norm_epsilon);
  require(is_floating(config.dtype), "GPT2Config: dtype must be float32, float64 or bfloat16, got ",
          config.dtype);
}

double GPT2Config::score_factor(int64_t layer) const {
  const double factor = scale_attn_weights ? 1 : std::sqrt(static_cast<double>(n_embd / n_head));
  return scale_attn_by_inverse_layer_idx ? factor / static_cast<double>(layer + 1) : factor;
}

KVCache::KVCache(const GPT2Config& config, int64_t batch, Device device) {
  for (int64_t i = 0; i < config.n_layer; ++i) {
    keys.push_back(zeros({batch, config.n_positions, config.n_embd}, config.dtype, device));
    values.push_back(zeros({batch, config.n_positions, config.n_embd}, config.dtype, device));
  }
}

template <class L>
BasicGPT2<L>::BasicGPT2(const GPT2Config& config, uint64_t seed)
    : embedding_dropout{config.dropout}, config(config) {
  validate(config);
  constexpr double deviation = 0.02;
  Random random(seed);
  wte = nn::Embedding(config.vocab_size, config.n_embd, random, deviation, config.dtype);
  wpe = nn::Embedding(config.n_positions, config.n_embd, random, deviation, config.dtype);
  nn::BlockConfig block{
      .channels = config.n_embd,
      .hidden = config.inner_size(),
      .heads = config.n_head,
      .activation = config.activation,
      .dropout = config.dropout,
      .bias = config.bias,
      .layer_norm_epsilon = config.layer_norm_epsilon,
      .residual_deviation = deviation / std::sqrt(2.0 * static_cast<double>(config.n_layer)),
      .dtype = config.dtype};
  h.reserve(static_cast<size_t>(config.n_layer));
  for (int64_t i = 0; i < config.n_layer; ++i) {
    block.score_factor = config.score_factor(i);
    h.emplace_back(block, random);
  }
  ln_f = nn::LayerNorm(config.n_embd, config.bias, config.layer_norm_epsilon, config.dtype);
  if (!config.tie_word_embeddings)
    lm_head = nn::Linear(config.n_embd, config.vocab_size, random, false, deviation, config.dtype);
}

template <class L>
BasicGPT2<L> BasicGPT2<L>::to(DType dtype) const {
  BasicGPT2 converted = *this;
  converted.config.dtype = dtype;
  validate(converted.config);
  return with_dtype(converted, dtype);
}

template <class L>
int64_t BasicGPT2<L>::checked_length(const Tensor& ids) const {
  require(ids.dim() == 2, "GPT2: expected token ids [B, T], got ", ids.shape());
  require(ids.size(1) <= config.n_positions, "GPT2: ", ids.size(1),
          " tokens exceed n_positions = ", config.n_positions);
  return ids.size(1);
}

template <class L>
Tensor BasicGPT2<L>::decode_hidden(const Tensor& ids, KVCache& cache) const {
  require(ids.dim() == 2 && ids.size(1) > 0, "GPT2::decode: expected ids [B, T] with T > 0, got ",
          ids.shape());
  const int64_t length = ids.size(1);
  require(cache.length + length <= config.n_positions, "GPT2::decode: ", cache.length, " cached and ", length,
          " new tokens exceed n_positions = ", config.n_positions);
  const Tensor positions =
      arange(cache.length + length, DType::int32, ids.device()).narrow(0, cache.length, length);
  Tensor x = wte(ids) + wpe(positions);
  for (size_t i = 0; i < h.size(); ++i) x = h[i].decode(x, cache.keys[i], cache.values[i], cache.length);
  cache.length += length;
  return ln_f(x);
}

template <class L>
Tensor BasicGPT2<L>::decode(const Tensor& ids, KVCache& cache) const {
  const Tensor hidden = decode_hidden(ids, cache);
  return linear(hidden.select(1, hidden.size(1) - 1), output_weight());
}

double flops_per_token(const GPT2Config& config, int64_t context) {
  const auto c = static_cast<double>(config.n_embd), layers = static_cast<double>(config.n_layer);
  const double block = 4 * c * c + 2 * c * static_cast<double>(config.inner_size());
  const double matrices = layers * block + static_cast<double>(config.vocab_size) * c;
  const double attention = layers * c * static_cast<double>(context);  // two products of T/2 by C each
  return 6.0 * (matrices + attention);
}

template struct BasicGPT2<nn::Linear>;
template struct BasicGPT2<nn::LoRALinear>;

}  // namespace cladtorch
