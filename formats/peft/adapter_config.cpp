#include "formats/peft/adapter_config.h"

#include <algorithm>
#include <cmath>

#include "cladtorch/quote.h"
#include "formats/hugging_face/architecture.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

/// Read below, or without a meaning for what the adapter computes.
constexpr const char* known_keys[] = {"peft_type",
                                      "r",
                                      "lora_alpha",
                                      "lora_dropout",
                                      "use_rslora",
                                      "target_modules",
                                      "bias",
                                      "inference_mode",
                                      "task_type",
                                      "base_model_name_or_path",
                                      "init_lora_weights",
                                      "peft_version",
                                      "revision",
                                      "auto_mapping",
                                      "layers_to_transform",
                                      "layers_pattern",
                                      "exclude_modules",
                                      "megatron_core",
                                      "qalora_group_size",
                                      "fan_in_fan_out",
                                      "eva_config"};

/// Initializations that leave the model's own weights as they are.
constexpr const char* known_initializations[] = {"gaussian", "eva", "orthogonal"};

/// Null, false, empty: switched off.
bool is_off(const io::Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();  // null, {} and []
}

[[noreturn]] void refuse(const std::string& where, const std::string& key, const io::Json& value) {
  const std::string text = value.dump(-1, ' ', true, io::Json::error_handler_t::replace);
  throw Error(
      fmt::format("read '{}': {} is {}, which is not implemented", where, shortened(key), shortened(text)));
}

void check_keys(const io::Json& json, const std::string& where) {
  for (const auto& [key, value] : json.items()) {
    const bool known = std::find(std::begin(known_keys), std::end(known_keys), key) != std::end(known_keys);
    if (!known && !is_off(value)) refuse(where, key, value);
  }
  expect_value(json, "peft_type", where, "LORA");
  expect_value(json, "bias", where, "none");
}

void check_initialization(const io::Json& json, const std::string& where) {
  const auto found = json.find("init_lora_weights");
  if (found == json.end() || found->is_boolean() || found->is_null()) return;
  for (const char* known : known_initializations) {
    if (*found == known) return;
  }
  refuse(where, "init_lora_weights", *found);
}

bool is_null(const io::Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || is_off(*found);
}

/// A string is a regular expression, or "all-linear"; which layers it means, the tensors tell.
void read_targets(const io::Json& json, const std::string& where, AdapterConfig& config) {
  const auto found = json.find("target_modules");
  if (found == json.end() || found->is_null() || found->is_string()) return;
  require(found->is_array(), "read '", where, "': key 'target_modules' is ", io::describe_json(*found),
          ", expected a list of names");
  for (const io::Json& name : *found) {
    require(name.is_string(), "read '", where, "': key 'target_modules' holds ", io::describe_json(name),
            ", expected names");
    config.lora.targets.push_back(name.get<std::string>());
  }
  config.all_targets = is_null(json, "layers_to_transform") && is_null(json, "exclude_modules");
}

/// PEFT writes whole numbers where it can.
io::Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return value;
}

}  // namespace

AdapterConfig read_adapter_config(const fs::path& folder) {
  const std::string where = (folder / adapter_config_file).string();
  const io::Json json = io::read_json(where);
  check_keys(json, where);
  check_initialization(json, where);
  AdapterConfig config;
  LoRAConfig& lora = config.lora;
  lora.rank = field_or(json, "r", where, lora.rank);
  lora.alpha = field_or(json, "lora_alpha", where, lora.alpha);
  lora.dropout = field_or(json, "lora_dropout", where, lora.dropout);
  lora.use_rslora = field_or(json, "use_rslora", where, false);
  config.base = field_or<std::string>(json, "base_model_name_or_path", where, "");
  config.fan_in_fan_out = field_or(json, "fan_in_fan_out", where, false);
  read_targets(json, where, config);
  try {
    validate(lora);
  } catch (const Error& error) {
    fail("read '", where, "': ", error.what());
  }
  return config;
}

void write_adapter_config(const fs::path& folder, const AdapterConfig& config) {
  io::write_json(
      folder / adapter_config_file,
      {{"alpha_pattern", io::Json::object()},
       {"auto_mapping", nullptr},
       {"base_model_name_or_path", config.base.empty() ? io::Json(nullptr) : io::Json(config.base)},
       {"bias", "none"},
       {"fan_in_fan_out", config.fan_in_fan_out},
       {"inference_mode", true},
       {"init_lora_weights", true},
       {"layers_pattern", nullptr},
       {"layers_to_transform", nullptr},
       {"lora_alpha", number(config.lora.alpha)},
       {"lora_dropout", config.lora.dropout},
       {"modules_to_save", nullptr},
       {"peft_type", "LORA"},
       {"r", config.lora.rank},
       {"rank_pattern", io::Json::object()},
       {"revision", nullptr},
       {"target_modules", config.lora.targets},
       {"task_type", "CAUSAL_LM"},
       {"use_dora", false},
       {"use_rslora", config.lora.use_rslora}});
}

}  // namespace cladtorch::formats
