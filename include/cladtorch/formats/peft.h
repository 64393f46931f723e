// Low-rank adapters in the format of Hugging Face's PEFT: a folder with adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cladtorch/models/lora.h"

namespace cladtorch::formats {

/// Whether `folder` holds an adapter, judged by the names of its files.
bool holds_adapter(const std::filesystem::path& folder);

/// The path in adapter_config.json of the model on which the adapter was trained; empty if the file does not
/// say. A name that PEFT would look up on a server is returned as it is.
std::string adapter_base(const std::filesystem::path& folder);

/// Makes `model` a handle on the same parameters and the adapter in `folder`, which is converted to the
/// model's dtype, and returns the adapter's configuration, whose targets are the names of the adapted layers.
/// Throws Error, and leaves the model as it was, for a model that has adapters, for layers or shapes that the
/// model does not have, and for anything in the configuration that this library does not implement: DoRA,
/// trained biases, modules_to_save, ranks of single layers, initializations that change the model's own
/// weights.
LoRAConfig load_adapter(const std::filesystem::path& folder, std::unique_ptr<LanguageModel>& model);

/// Writes the adapters of `model` into `folder`, which must exist. `base` is the folder of the model without
/// them, for adapter_base(). Throws Error if a rank is not config.rank, or if there is no adapter.
void save_adapter(const LanguageModel& model, const LoRAConfig& config, const std::string& base,
                  const std::filesystem::path& folder);

}  // namespace cladtorch::formats
