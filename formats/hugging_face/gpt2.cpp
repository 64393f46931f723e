#include "formats/hugging_face/architecture.h"

#include "cladtorch/quote.h"

namespace cladtorch::formats {
namespace {

bool ends_with_any(const std::string& name, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

nn::Activation read_activation(const io::Json& json, const std::string& where) {
  const auto name = field_or<std::string>(json, "activation_function", where, "gelu_new");
  const std::optional<nn::Activation> activation = nn::activation_named(name);
  require(activation.has_value(), "read '", where, "': activation_function is ", in_quotes(name),
          ", which is not implemented; known are gelu_new, gelu, relu and silu");
  return *activation;
}

GPT2Config read_config(const io::Json& json, const std::string& where) {
  expect_value(json, "add_cross_attention", where, false);
  expect_value(json, "is_causal", where, true);
  GPT2Config config;
  config.vocab_size = io::json_field<int64_t>(json, "vocab_size", where);
  config.n_positions = io::json_field<int64_t>(json, "n_positions", where);
  config.n_embd = io::json_field<int64_t>(json, "n_embd", where);
  config.n_layer = io::json_field<int64_t>(json, "n_layer", where);
  config.n_head = io::json_field<int64_t>(json, "n_head", where);
  config.n_inner = field_or<int64_t>(json, "n_inner", where, 0);
  config.activation = read_activation(json, where);
  config.scale_attn_weights = field_or(json, "scale_attn_weights", where, true);
  config.scale_attn_by_inverse_layer_idx = field_or(json, "scale_attn_by_inverse_layer_idx", where, false);
  config.layer_norm_epsilon = field_or(json, "layer_norm_epsilon", where, 1e-5);
  config.dropout = field_or(json, "resid_pdrop", where, 0.0);
  config.tie_word_embeddings = field_or(json, tied_key, where, true);
  try {
    validate(config);
  } catch (const Error& error) {
    fail("read '", where, "': ", error.what());
  }
  return config;
}

double numbers(const io::Json& json, const std::string& where) {
  const GPT2Config config = read_config(json, where);
  const auto c = static_cast<double>(config.n_embd), vocabulary = static_cast<double>(config.vocab_size);
  const double rows =
      (config.tie_word_embeddings ? 1 : 2) * vocabulary + static_cast<double>(config.n_positions);
  const auto inner = static_cast<double>(config.inner_size());
  const double block = 4 * c * c + 2 * c * inner + inner + 9 * c;
  return rows * c + static_cast<double>(config.n_layer) * block;
}

std::unique_ptr<LanguageModel> make(const io::Json& json, const std::string& where, DType dtype) {
  GPT2Config config = read_config(json, where);
  config.dtype = dtype;
  return as_language_model(GPT2(config));
}

io::Json write_config(const LanguageModel& model) {
  const GPT2Config& config = *config_if<GPT2Config>(model);
  require(config.bias, "save: transformers has no GPT-2 without biases");
  const io::Json inner = config.n_inner > 0 ? io::Json(config.n_inner) : io::Json(nullptr);
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", config.vocab_size},
          {"n_positions", config.n_positions},
          {"n_ctx", config.n_positions},
          {"n_embd", config.n_embd},
          {"n_layer", config.n_layer},
          {"n_head", config.n_head},
          {"n_inner", inner},
          {"activation_function", nn::name_of(config.activation)},
          {"scale_attn_weights", config.scale_attn_weights},
          {"scale_attn_by_inverse_layer_idx", config.scale_attn_by_inverse_layer_idx},
          {"layer_norm_epsilon", config.layer_norm_epsilon},
          {"resid_pdrop", config.dropout},
          {"embd_pdrop", config.dropout},
          {"attn_pdrop", 0.0},
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {tied_key, config.tie_word_embeddings}};
}

std::string stored_name(const std::string& name) { return name == head_name ? name : "transformer." + name; }

/// transformers calls these layers Conv1D.
bool stored_transposed(const std::string& name) {
  return ends_with_any(name,
                       {"attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"});
}

/// Causal masks.
bool redundant(const std::string& name) { return ends_with_any(name, {".attn.bias", ".attn.masked_bias"}); }

}  // namespace

const Architecture gpt2_architecture = {.types = {"gpt2"},
                                        .prefix = "transformer.",
                                        .embedding = "wte.weight",
                                        .numbers = numbers,
                                        .make = make,
                                        .config = write_config,
                                        .stored_name = stored_name,
                                        .stored_transposed = stored_transposed,
                                        .redundant = redundant};

}  // namespace cladtorch::formats
