#include "cladtorch/formats/gguf.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/quote.h"
#include "cladtorch/tensor/factories.h"
#include "formats/gguf/vocabulary.h"
#include "formats/values.h"

namespace cladtorch::formats {
namespace {

constexpr const char* where = "config.json";

uint32_t count(const io::Json& config, const char* key) {
  return io::json_field<uint32_t>(config, key, where);
}
float real(const io::Json& config, const char* key) {
  return static_cast<float>(io::json_field<double>(config, key, where));
}

/// The end of a parameter's name in transformers, and in llama.cpp.
using Names = std::span<const std::pair<const char*, const char*>>;

constexpr std::pair<const char*, const char*> gpt2_names[] = {
    {"wte", "token_embd"},     {"wpe", "position_embd"},       {"ln_f", "output_norm"},
    {"lm_head", "output"},     {"ln_1", "attn_norm"},          {"attn.c_attn", "attn_qkv"},
    {"ln_2", "ffn_norm"},      {"attn.c_proj", "attn_output"}, {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"}};
constexpr std::pair<const char*, const char*> llama_names[] = {{"embed_tokens", "token_embd"},
                                                               {"norm", "output_norm"},
                                                               {"lm_head", "output"},
                                                               {"input_layernorm", "attn_norm"},
                                                               {"self_attn.q_proj", "attn_q"},
                                                               {"self_attn.k_proj", "attn_k"},
                                                               {"self_attn.v_proj", "attn_v"},
                                                               {"self_attn.o_proj", "attn_output"},
                                                               {"post_attention_layernorm", "ffn_norm"},
                                                               {"mlp.gate_proj", "ffn_gate"},
                                                               {"mlp.up_proj", "ffn_up"},
                                                               {"mlp.down_proj", "ffn_down"}};

/// "h.3.ln_1.weight" and "model.layers.3.input_layernorm.weight" are both "blk.3.attn_norm.weight".
std::string gguf_name(Names names, std::string name) {
  for (const std::string prefix : {"transformer.", "model."}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  std::string block;
  for (const std::string list : {"h.", "layers."}) {
    if (!name.starts_with(list)) continue;
    const size_t dot = name.find('.', list.size());
    block = "blk." + name.substr(list.size(), dot + 1 - list.size());
    name.erase(0, dot + 1);
  }
  const size_t dot = name.rfind('.');
  for (const auto& [ours, theirs] : names) {
    if (name.substr(0, dot) == ours) return block + theirs + name.substr(dot);
  }
  fail("export: llama.cpp has no name for the parameter ", in_quotes(name));
}

/// Rows of a query or key weight: of each head those of both halves in turn.
Tensor rotate_neighbours(const Tensor& weight, int64_t heads) {
  const int64_t rows = weight.size(0), rest = weight.numel() / rows;
  return weight.reshape({heads, 2, rows / heads / 2, rest})
      .transpose(1, 2)
      .contiguous()
      .reshape(weight.shape());
}

const io::Json& rope_of(const io::Json& config) {
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (const auto found = config.find(key); found != config.end() && found->is_object()) return *found;
  }
  return config;
}

std::string rope_type(const io::Json& config) {
  const io::Json& rope = rope_of(config);
  if (&rope == &config) return "default";
  return io::json_field_or<std::string>(rope, "rope_type", where, "default");
}

double rope_theta(const io::Json& config) {
  const io::Json& rope = rope_of(config);
  return io::json_field_or(rope, "rope_theta", where,
                           io::json_field_or(config, "rope_theta", where, 10000.0));
}

/// What the scaling of Llama 3.1 divides each rotary frequency by.
Tensor llama3_factors(const LlamaConfig& config) {
  const RotaryFrequencies plain({.theta = config.rope.theta}, config.head_size()),
      scaled(config.rope, config.head_size());
  Tensor factors = empty({plain.pairs()});
  for (int64_t i = 0; i < plain.pairs(); ++i) factors.data<float>()[i] = plain[i] / scaled[i];
  return factors;
}

uint32_t file_type(io::StoredType type) {
  switch (type) {
    case io::StoredType::f32:
      return 0;
    case io::StoredType::f16:
      return 1;
    case io::StoredType::bf16:
      return 32;
    default:
      fail("export: GGUF is written with F32, F16 or BF16, not with ", io::stored_name(type));
  }
}

/// "124M": two digits at least.
std::string size_label(int64_t parameters) {
  const auto n = static_cast<double>(parameters);
  const auto [unit, suffix] = n > 1e12  ? std::pair{1e12, 'T'}
                              : n > 1e9 ? std::pair{1e9, 'B'}
                              : n > 1e6 ? std::pair{1e6, 'M'}
                                        : std::pair{1e3, 'K'};
  return fmt::format("{:.{}f}{}", n / unit,
                     std::round(n / unit) < 1    ? 2
                     : std::round(n / unit) < 10 ? 1
                                                 : 0,
                     suffix);
}

/// Format and programs that read it take these for granted.
void check_gpt2(const GPT2Config& config) {
  require(config.activation == nn::Activation::gelu_tanh,
          "export: llama.cpp's gpt2 has the activation gelu_new, but this model has ",
          nn::name_of(config.activation));
  require(
      config.scale_attn_weights && !config.scale_attn_by_inverse_layer_idx,
      "export: llama.cpp's gpt2 divides attention's scores by the root of the head size alone, this model ",
      "has ", config.scale_attn_weights ? "scale_attn_by_inverse_layer_idx" : "no scale_attn_weights");
}

io::GgufMetadata gpt2_metadata(const io::Json& config) {
  const auto found = config.find("n_inner");
  const bool given = found != config.end() && !found->is_null();
  const uint32_t inner = given ? count(config, "n_inner") : 4 * count(config, "n_embd");
  return {{"gpt2.block_count", count(config, "n_layer")},
          {"gpt2.context_length", count(config, "n_positions")},
          {"gpt2.embedding_length", count(config, "n_embd")},
          {"gpt2.feed_forward_length", inner},
          {"gpt2.attention.head_count", count(config, "n_head")},
          {"gpt2.attention.layer_norm_epsilon", real(config, "layer_norm_epsilon")}};
}

uint32_t head_size(const io::Json& config) {
  const uint32_t quotient = count(config, "hidden_size") / count(config, "num_attention_heads");
  const auto found = config.find("head_dim");
  return found == config.end() || found->is_null() ? quotient : count(config, "head_dim");
}

io::GgufMetadata llama_metadata(const io::Json& config) {
  io::GgufMetadata metadata = {{"llama.block_count", count(config, "num_hidden_layers")},
                               {"llama.context_length", count(config, "max_position_embeddings")},
                               {"llama.embedding_length", count(config, "hidden_size")},
                               {"llama.feed_forward_length", count(config, "intermediate_size")},
                               {"llama.attention.head_count", count(config, "num_attention_heads")},
                               {"llama.attention.head_count_kv", count(config, "num_key_value_heads")},
                               {"llama.rope.freq_base", static_cast<float>(rope_theta(config))},
                               {"llama.attention.layer_norm_rms_epsilon", real(config, "rms_norm_eps")},
                               {"llama.attention.key_length", head_size(config)},
                               {"llama.attention.value_length", head_size(config)},
                               {"llama.vocab_size", count(config, "vocab_size")},
                               {"llama.rope.dimension_count", head_size(config)}};
  const std::string rope = rope_type(config);
  if (rope == "linear") {
    metadata.emplace_back("llama.rope.scaling.type", rope);
    metadata.emplace_back("llama.rope.scaling.factor", real(rope_of(config), "factor"));
  } else {
    require(rope == "default" || rope == "llama3", "export: llama.cpp's keys for rope_type '", rope,
            "' are not known here; expected default, linear or llama3");
  }
  if (const auto window = config.find("sliding_window"); window != config.end() && !window->is_null()) {
    metadata.emplace_back("llama.attention.sliding_window", count(config, "sliding_window"));
  }
  return metadata;
}

struct GgufTensor {
  std::string name;
  Tensor values;
};

std::vector<GgufTensor> gguf_tensors(const LanguageModel& model, const io::Json& config, bool llama) {
  std::vector<GgufTensor> tensors;
  const LlamaConfig* const rotating = config_if<LlamaConfig>(model);
  if (rotating != nullptr && rotating->rope.scaling == RotaryScaling::llama3)
    tensors.push_back({"rope_freqs.weight", llama3_factors(*rotating)});
  for (const NamedTensor& parameter : model.parameters()) {
    std::string name = gguf_name(llama ? Names(llama_names) : Names(gpt2_names), parameter.name);
    Tensor values = parameter.tensor;
    if (name.find(".attn_q.") != std::string::npos) {
      values = rotate_neighbours(values, count(config, "num_attention_heads"));
    } else if (name.find(".attn_k.") != std::string::npos) {
      values = rotate_neighbours(values, count(config, "num_key_value_heads"));
    }
    tensors.push_back({std::move(name), std::move(values)});
  }
  return tensors;
}

}  // namespace

bool save_gguf(const LanguageModel& model, const std::filesystem::path& file, io::StoredType type,
               const std::filesystem::path& folder) {
  const io::Json config = config_json(model);
  const bool llama = model.type() != "gpt2";
  if (const GPT2Config* gpt2 = config_if<GPT2Config>(model)) check_gpt2(*gpt2);
  io::GgufMetadata metadata = {
      {"general.architecture", std::string(llama ? "llama" : "gpt2")},
      {"general.type", std::string("model")},
      {"general.name", std::filesystem::absolute(folder).lexically_normal().filename().string()},
      {"general.size_label", size_label(model.parameter_count())}};
  for (auto& entry : llama ? llama_metadata(config) : gpt2_metadata(config))
    metadata.push_back(std::move(entry));
  metadata.emplace_back("general.file_type", file_type(type));
  metadata.emplace_back("general.quantization_version", uint32_t{2});
  const bool vocabulary = append_vocabulary(metadata, folder, model.sizes().vocab_size);

  const std::vector<GgufTensor> tensors = gguf_tensors(model, config, llama);
  std::vector<io::TensorEntry> entries;
  for (const auto& [name, values] : tensors) {
    const bool single = values.dim() == 1 || name == "position_embd.weight";
    entries.push_back(
        {name, single ? io::StoredType::f32 : type, {values.shape().begin(), values.shape().end()}});
  }
  StoredBytes converted;
  io::write_gguf(file, metadata, entries,
                 [&](size_t i) { return converted.of(tensors[i].values, entries[i].type); });
  return vocabulary;
}

}  // namespace cladtorch::formats
