// Adapters of low rank as Hugging Face's PEFT keeps them: a folder with adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <filesystem>
#include <string>

#include "cladtorch/models/lora.h"

namespace cladtorch::formats {

/// Whether `folder` holds an adapter, as far as its names tell.
bool holds_adapter(const std::filesystem::path& folder);

/// Where adapter_config.json says that the model lies which the adapter was trained on; empty where it does
/// not say. A name that PEFT would look up on a server stays that name.
std::string adapter_base(const std::filesystem::path& folder);

/// Gives `model` the adapter in `folder`, its numbers converted to the model's dtype, and returns its
/// configuration, whose targets are the names of the adapted layers. Throws Error, and leaves the model as it
/// was, for a model that has adapters, for layers or shapes that the model does not have, and for anything in
/// the configuration that this library does not implement: DoRA, trained biases, modules_to_save, ranks of
/// single layers, initializations that change the model's own weights.
LoRAConfig load_adapter(const std::filesystem::path& folder, LanguageModel& model);

/// Writes the adapters of `model` into `folder`, which must exist. `base` is the folder of the model without
/// them, for adapter_base(). Throws Error where the ranks are not config.rank, or there is no adapter.
void save_adapter(const LanguageModel& model, const LoRAConfig& config, const std::string& base,
                  const std::filesystem::path& folder);

}  // namespace cladtorch::formats
