#include "cladtorch/models/lora.h"

#include <algorithm>
#include <cmath>

#include "cladtorch/quote.h"

namespace cladtorch {
namespace {

constexpr const char* all_linear = "all-linear";

/// "c_attn, c_fc, c_proj": how a user may name layers.
std::string short_names(const std::vector<NamedLinear>& layers) {
  std::vector<std::string> names;
  for (const NamedLinear& linear : layers) names.push_back(linear.name.substr(linear.name.rfind('.') + 1));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<NamedLinear> chosen(const std::vector<NamedLinear>& layers,
                                const std::vector<std::string>& targets) {
  if (std::find(targets.begin(), targets.end(), all_linear) != targets.end()) {
    require(targets.size() == 1, "lora: '", all_linear, "' stands alone, not in a list of targets");
    return layers;
  }
  std::vector<NamedLinear> result;
  for (const NamedLinear& linear : layers) {
    if (is_lora_target(linear.name, targets)) result.push_back(linear);
  }
  for (const std::string& target : targets) {
    const bool found = std::any_of(result.begin(), result.end(), [&](const NamedLinear& linear) {
      return is_lora_target(linear.name, {target});
    });
    require(found, "lora: no linear layer is called ", in_quotes(target), "; there are ",
            short_names(layers));
  }
  return result;
}

}  // namespace

double LoRAConfig::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (use_rslora ? std::sqrt(r) : r);
}

void validate(const LoRAConfig& config) {
  constexpr int64_t most = 1 << 20;
  require(config.rank > 0 && config.rank <= most, "lora: the rank must be positive and at most ", most,
          ", got ", config.rank);
  require(std::isfinite(config.alpha) && config.alpha > 0, "lora: alpha must be positive, got ",
          config.alpha);
  require(config.dropout >= 0 && config.dropout < 1, "lora: dropout must be in [0, 1), got ", config.dropout);
}

std::vector<std::string> default_lora_targets(const LanguageModel& model) {
  const std::string type = model.type();
  if (type == "gpt2") return {"c_attn"};
  if (type == "llama" || type == "mistral") return {"q_proj", "v_proj"};
  fail("lora: a ", type, " has no default targets; name the layers, or '", all_linear, "'");
}

bool is_lora_target(const std::string& name, const std::vector<std::string>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return name == target || (!target.empty() && name.ends_with("." + target));
  });
}

std::vector<std::string> add_lora(std::unique_ptr<LanguageModel>& model, const LoRAConfig& config,
                                  uint64_t seed) {
  validate(config);
  require(!has_lora(*model), "lora: the model has adapters already; merge them first");
  const std::vector<std::string> targets =
      config.targets.empty() ? default_lora_targets(*model) : config.targets;
  std::unique_ptr<LanguageModel> adapted = model->with_lora_layers();
  Random random(seed);
  std::vector<std::string> names;
  for (const NamedLinear& linear : chosen(adapted->linear_layers(), targets)) {
    linear.lora->add_lora({.rank = config.rank, .scale = config.scale(), .dropout = config.dropout}, random);
    names.push_back(linear.name);
  }
  model = std::move(adapted);
  return names;
}

bool has_lora(const LanguageModel& model) {
  const std::vector<NamedTensor> parameters = model.parameters();
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const NamedTensor& parameter) { return is_lora_parameter(parameter.name); });
}

void remove_lora(std::unique_ptr<LanguageModel>& model) {
  if (has_lora(*model)) model = model->with_plain_layers();
}

void merge_lora(std::unique_ptr<LanguageModel>& model) {
  if (!has_lora(*model)) return;
  for (const NamedLinear& linear : model->linear_layers()) linear.lora->merge_lora();
  model = model->with_plain_layers();
}

}  // namespace cladtorch
