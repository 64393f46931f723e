// Runs that train a LoRA adapter in place of a whole model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/models/lora.h"
#include "cladtorch/train/config.h"

namespace cladtorch::train {

/// What such a run needs to know beside the model.
struct AdapterRun {
  LoRAConfig lora;
  /// Folder of the model without adapters: checkpoints hold the adapter and this path.
  std::filesystem::path base;
};

/// What a configuration asks for: nothing where lora.rank is 0.
std::optional<AdapterRun> adapter_run(const TrainConfig& config);

/// Gives `model` adapters drawn from `seed` and freezes everything else. Targets may also be the names that
/// layers have in the model's file. Throws Error as add_lora().
void adapt(LanguageModel& model, const LoRAConfig& lora, uint64_t seed);

/// Puts the adapters in `checkpoint` in the place of those of `model`. Throws Error when `lora` describes
/// others: of another rank, scale or other layers.
void restore_adapter(const std::filesystem::path& checkpoint, const LoRAConfig& lora, LanguageModel& model);

/// Sixteen hexadecimal digits that another model, or another state of it, hardly has: of the names, shapes
/// and numbers of all parameters but those of adapters.
std::string base_fingerprint(const LanguageModel& model);

}  // namespace cladtorch::train
