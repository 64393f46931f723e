// Runs that train a LoRA adapter instead of a whole model.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cladtorch/models/lora.h"
#include "cladtorch/train/config.h"

namespace cladtorch::train {

/// What such a run needs besides the model.
struct AdapterRun {
  LoRAConfig lora;
  /// Folder of the model without adapters: checkpoints hold the adapter and this path.
  std::filesystem::path base;
};

/// The adapter that a configuration asks for; nothing if lora.rank is 0.
std::optional<AdapterRun> adapter_run(const TrainConfig& config);

/// Gives `model` adapters drawn from `seed` and freezes everything else. Targets may also be the names of
/// layers in the model's file. Throws Error like add_lora().
void adapt(std::unique_ptr<LanguageModel>& model, const LoRAConfig& lora, uint64_t seed);

/// Replaces the adapters of `model` with those in `checkpoint`. Throws Error if `lora` describes adapters of
/// another rank or scale, or of other layers.
void restore_adapter(const std::filesystem::path& checkpoint, const LoRAConfig& lora,
                     std::unique_ptr<LanguageModel>& model);

/// Sixteen hexadecimal digits, a hash of the names, shapes and numbers of all parameters except those of
/// adapters.
std::string base_fingerprint(const LanguageModel& model);

}  // namespace cladtorch::train
