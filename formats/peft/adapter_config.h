// adapter_config.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cladtorch/models/lora.h"

namespace cladtorch::formats {

inline constexpr const char* adapter_config_file = "adapter_config.json";

struct AdapterConfig {
  LoRAConfig lora;           ///< targets as in the file; empty where that is a pattern
  std::string base;          ///< base_model_name_or_path
  bool all_targets = false;  ///< every layer that lora.targets names must have an adapter
  bool fan_in_fan_out = false;

  /// Whether the layer of this name in the file must have one.
  bool expects(const std::string& layer) const { return all_targets && is_lora_target(layer, lora.targets); }
};

/// Throws Error naming the file and the key that is wrong or not implemented.
AdapterConfig read_adapter_config(const std::filesystem::path& folder);

void write_adapter_config(const std::filesystem::path& folder, const AdapterConfig& config);

}  // namespace cladtorch::formats
