#include "cladtorch/models/llama.h"

#include "cladtorch/quote.h"
#include "formats/hugging_face/architecture.h"

namespace cladtorch::formats {
namespace {

constexpr const char* rope_keys[] = {"rope_scaling", "rope_parameters"};

/// transformers' own defaults, where they differ.
struct Defaults {
  int64_t key_value_heads, positions, window;
};
Defaults defaults_of(const std::string& type) {
  return type == "mistral" ? Defaults{8, 131072, 4096} : Defaults{0, 2048, 0};
}

RotaryScaling scaling_of(const std::string& type, const std::string& where) {
  if (type == "default") return RotaryScaling::none;
  if (type == "linear") return RotaryScaling::linear;
  if (type == "dynamic") return RotaryScaling::dynamic;
  if (type == "llama3") return RotaryScaling::llama3;
  if (type == "yarn") return RotaryScaling::yarn;
  fail("read '", where, "': rope_type is ", in_quotes(type),
       ", which is not implemented; known are default, linear, dynamic, llama3 and yarn");
}

/// The object of the rotary parameters: rope_scaling of older versions, which has no theta, or
/// rope_parameters of newer ones; empty where there is neither.
io::Json rope_object(const io::Json& json, const std::string& where) {
  for (const char* key : rope_keys) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) continue;
    require(found->is_object(), "read '", where, "': ", key, " is ", io::describe_json(*found),
            ", expected an object");
    return *found;
  }
  return io::Json::object();
}

/// As transformers reads them: 0 and null stand for the defaults.
void read_yarn(const io::Json& rope, const std::string& where, RotaryConfig& config) {
  const auto number_or = [&](const char* key, double absent) {
    const double number = field_or(rope, key, where, 0.0);
    return number == 0 ? absent : number;
  };
  config.beta_fast = number_or("beta_fast", config.beta_fast);
  config.beta_slow = number_or("beta_slow", config.beta_slow);
  config.truncate = rope.contains("truncate") ? field_or(rope, "truncate", where, false) : true;
  const double numerator = number_or("mscale", 0), denominator = number_or("mscale_all_dim", 0);
  if (numerator != 0 && denominator != 0)
    config.attention_factor =
        yarn_magnitude(config.factor, numerator) / yarn_magnitude(config.factor, denominator);
  const auto given = rope.find("attention_factor");
  if (given == rope.end() || given->is_null()) return;
  config.attention_factor = io::json_field<double>(rope, "attention_factor", where);
  require(config.attention_factor > 0, "read '", where, "': attention_factor must be positive, got ",
          config.attention_factor);
}

RotaryConfig read_rope(const io::Json& json, const std::string& where, int64_t positions) {
  const io::Json rope = rope_object(json, where);
  RotaryConfig config;
  config.theta = field_or(rope, "rope_theta", where, field_or(json, "rope_theta", where, config.theta));
  expect_value(json, "partial_rotary_factor", where, 1.0);
  expect_value(rope, "partial_rotary_factor", where, 1.0);
  const auto older = field_or<std::string>(rope, "type", where, "default");
  config.scaling = scaling_of(field_or(rope, "rope_type", where, older), where);
  if (config.scaling == RotaryScaling::none) return config;
  // YaRN's may be null: that of the lengths.
  const bool by_lengths =
      config.scaling == RotaryScaling::yarn && rope.contains("factor") && rope["factor"].is_null();
  if (!by_lengths) config.factor = io::json_field<double>(rope, "factor", where);
  if (config.scaling == RotaryScaling::linear || config.scaling == RotaryScaling::dynamic) return config;
  constexpr const char* original = "original_max_position_embeddings";
  config.original_positions = field_or(json, original, where, field_or(rope, original, where, positions));
  if (by_lengths)
    config.factor = static_cast<double>(positions) / static_cast<double>(config.original_positions);
  if (config.scaling == RotaryScaling::yarn) {
    read_yarn(rope, where, config);
    return config;
  }
  config.low_frequency_factor = io::json_field<double>(rope, "low_freq_factor", where);
  config.high_frequency_factor = io::json_field<double>(rope, "high_freq_factor", where);
  return config;
}

/// Null stands for what `absent` means without the key, unless the key is there.
int64_t number_or_null(const io::Json& json, const char* key, const std::string& where, int64_t absent) {
  return json.contains(key) ? field_or<int64_t>(json, key, where, 0) : absent;
}

LlamaConfig read_config(const io::Json& json, const std::string& where) {
  const auto type = io::json_field<std::string>(json, "model_type", where);
  const Defaults defaults = defaults_of(type);
  const auto activation = field_or<std::string>(json, "hidden_act", where, "silu");
  require(activation == "silu" || activation == "swish", "read '", where, "': hidden_act is ",
          in_quotes(activation), ", which is not implemented; expected silu");
  expect_value(json, "is_causal", where, true);
  LlamaConfig config;
  config.vocab_size = io::json_field<int64_t>(json, "vocab_size", where);
  config.hidden_size = io::json_field<int64_t>(json, "hidden_size", where);
  config.intermediate_size = io::json_field<int64_t>(json, "intermediate_size", where);
  config.num_hidden_layers = io::json_field<int64_t>(json, "num_hidden_layers", where);
  config.num_attention_heads = io::json_field<int64_t>(json, "num_attention_heads", where);
  config.num_key_value_heads = number_or_null(json, "num_key_value_heads", where, defaults.key_value_heads);
  config.head_dim = field_or<int64_t>(json, "head_dim", where, 0);
  config.max_position_embeddings = field_or(json, "max_position_embeddings", where, defaults.positions);
  config.is_mistral = type == "mistral";
  if (config.is_mistral)
    config.sliding_window = number_or_null(json, "sliding_window", where, defaults.window);
  config.rms_norm_eps = field_or(json, "rms_norm_eps", where, 1e-6);
  config.rope = read_rope(json, where, config.max_position_embeddings);
  config.tie_word_embeddings = field_or(json, tied_key, where, false);
  config.attention_bias = type == "llama" && field_or(json, "attention_bias", where, false);
  config.mlp_bias = type == "llama" && field_or(json, "mlp_bias", where, false);
  config.initializer_range = field_or(json, "initializer_range", where, 0.02);
  try {
    validate(config);
  } catch (const Error& error) {
    fail("read '", where, "': ", error.what());
  }
  return config;
}

double numbers(const io::Json& json, const std::string& where) {
  const LlamaConfig config = read_config(json, where);
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const double c = number(config.hidden_size), size = number(config.head_size());
  const double heads = number(config.num_attention_heads), key_heads = number(config.key_heads());
  const double layer = 2 * c * size * (heads + key_heads) + 3 * c * number(config.intermediate_size) + 2 * c;
  return (config.tie_word_embeddings ? 1 : 2) * number(config.vocab_size) * c +
         number(config.num_hidden_layers) * layer + c;
}

std::unique_ptr<LanguageModel> make(const io::Json& json, const std::string& where, DType dtype) {
  LlamaConfig config = read_config(json, where);
  config.dtype = dtype;
  return as_language_model(Llama(config));
}

io::Json yarn_scaling(const RotaryConfig& rope) {
  io::Json json = {{"rope_type", "yarn"},
                   {"factor", rope.factor},
                   {"original_max_position_embeddings", rope.original_positions},
                   {"beta_fast", rope.beta_fast},
                   {"beta_slow", rope.beta_slow},
                   {"truncate", rope.truncate}};
  if (rope.attention_factor > 0) json["attention_factor"] = rope.attention_factor;
  return json;
}

/// In the older form, which newer versions read as well.
io::Json rope_scaling(const RotaryConfig& rope) {
  if (rope.scaling == RotaryScaling::none) return nullptr;
  if (rope.scaling == RotaryScaling::linear) return {{"rope_type", "linear"}, {"factor", rope.factor}};
  if (rope.scaling == RotaryScaling::dynamic) return {{"rope_type", "dynamic"}, {"factor", rope.factor}};
  if (rope.scaling == RotaryScaling::yarn) return yarn_scaling(rope);
  return {{"rope_type", "llama3"},
          {"factor", rope.factor},
          {"low_freq_factor", rope.low_frequency_factor},
          {"high_freq_factor", rope.high_frequency_factor},
          {"original_max_position_embeddings", rope.original_positions}};
}

io::Json write_config(const LanguageModel& model) {
  const LlamaConfig& config = *config_if<LlamaConfig>(model);
  const bool mistral = model.type() == "mistral";
  require(!mistral || (!config.attention_bias && !config.mlp_bias),
          "save: transformers has no Mistral with biases");
  io::Json json = {{"architectures", {mistral ? "MistralForCausalLM" : "LlamaForCausalLM"}},
                   {"model_type", model.type()},
                   {"vocab_size", config.vocab_size},
                   {"hidden_size", config.hidden_size},
                   {"intermediate_size", config.intermediate_size},
                   {"num_hidden_layers", config.num_hidden_layers},
                   {"num_attention_heads", config.num_attention_heads},
                   {"num_key_value_heads", config.key_heads()},
                   {"head_dim", config.head_size()},
                   {"hidden_act", "silu"},
                   {"max_position_embeddings", config.max_position_embeddings},
                   {"initializer_range", config.initializer_range},
                   {"rms_norm_eps", config.rms_norm_eps},
                   {"rope_theta", config.rope.theta},
                   {"rope_scaling", rope_scaling(config.rope)},
                   {"attention_dropout", 0.0},
                   {"bos_token_id", nullptr},
                   {"eos_token_id", nullptr},
                   {tied_key, config.tie_word_embeddings}};
  if (mistral) {
    json["sliding_window"] = config.sliding_window > 0 ? io::Json(config.sliding_window) : io::Json(nullptr);
  } else {
    json["attention_bias"] = config.attention_bias;
    json["mlp_bias"] = config.mlp_bias;
  }
  return json;
}

}  // namespace

const Architecture llama_architecture = {
    .types = {"llama", "mistral"},
    .prefix = "model.",
    .embedding = "model.embed_tokens.weight",
    .numbers = numbers,
    .make = make,
    .config = write_config,
    .stored_name = [](const std::string& name) { return name; },
    .stored_transposed = [](const std::string&) { return false; },
    .redundant = [](const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }};

}  // namespace cladtorch::formats
