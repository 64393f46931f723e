// Low-rank adapters of a language model's linear layers, which are trained instead of the model's weights.
// Source: Hu et al., "LoRA: low-rank adaptation of large language models", 2021.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cladtorch/models/language_model.h"

namespace cladtorch {

/// The fields have the meanings and defaults of PEFT's LoraConfig.
struct LoRAConfig {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  /// Scales by alpha / sqrt(rank) instead of alpha / rank. Source: Kalajdzievski, "A rank stabilization
  /// scaling factor for fine-tuning with LoRA", 2023.
  bool use_rslora = false;
  /// Names of layers, or ends of names after a dot: "c_attn", "h.0.mlp.c_fc"; "all-linear" stands for all but
  /// the output layer. Empty: PEFT's choice for the model, c_attn of a GPT-2, q_proj and v_proj of a Llama or
  /// Mistral.
  std::vector<std::string> targets = {};

  double scale() const;
};

/// Throws Error naming the field whose value is invalid.
void validate(const LoRAConfig& config);

/// The default targets, which an empty list stands for. Throws Error for a kind of model that has none.
std::vector<std::string> default_lora_targets(const LanguageModel& model);

/// Whether the layer `name` is one of `targets`, which do not contain "all-linear".
bool is_lora_target(const std::string& name, const std::vector<std::string>& targets);

/// Makes `model` a handle on the same parameters with an adapter for every target, which adds nothing yet;
/// the same seed draws the same one. Returns the names of the layers. Throws Error, and changes nothing, for
/// a target that names no layer, a model that has adapters, or one that cannot have them.
std::vector<std::string> add_lora(std::unique_ptr<LanguageModel>& model, const LoRAConfig& config,
                                  uint64_t seed);

/// Whether any layer has an adapter.
bool has_lora(const LanguageModel& model);

/// Makes `model` a handle on the same parameters without the adapters.
void remove_lora(std::unique_ptr<LanguageModel>& model);

/// The same after it has added every adapter to its weight. Writes into the weights' storage.
void merge_lora(std::unique_ptr<LanguageModel>& model);

}  // namespace cladtorch
