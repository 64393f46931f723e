// All that a run needs to continue exactly where it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/data/loader.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/adapter.h"

namespace cladtorch::train {

/// Where a run stands.
struct TrainerState {
  int64_t step = 0;              ///< updates done
  int64_t steps = 0;             ///< updates of the whole run
  int64_t configured_steps = 0;  ///< train.steps, of which a time limit may have left fewer
  std::optional<double> best_val{};
  int64_t best_step = 0;
  std::optional<double> val_loss{};  ///< of the last evaluation
  int64_t tokens = 0;                ///< trained on so far
  double seconds = 0;                ///< spent training, over all sessions
  uint64_t train_tokens = 0;         ///< size of the training text: another text is refused
  data::LoaderState loader{};
  std::string base_fingerprint{};  ///< of the model that an adapter is trained on; empty: no adapter
};

/// Writes the folder `path` (model.safetensors, config.json, optimizer.safetensors, trainer_state.json,
/// tokenizer.json) beside its final place and exchanges it for the old one: a kill at any moment leaves one
/// complete checkpoint under this name. The folder that `path` lies in must exist. With `adapter`, the files
/// of PEFT take the place of the model's: the model's adapters alone.
void save_checkpoint(const std::filesystem::path& path, const LanguageModel& model, const AdamW& optimizer,
                     const TrainerState& state, const data::Tokenizer& tokenizer,
                     const AdapterRun* adapter = nullptr);

TrainerState load_trainer_state(const std::filesystem::path& checkpoint);
/// Reads the moments and the step count; throws Error when they belong to other parameters.
void load_optimizer(const std::filesystem::path& checkpoint, AdamW& optimizer);

/// The checkpoint that `path` means: itself if it holds a model.safetensors, else its best/, else its last/.
/// Throws Error that says what was looked for.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace cladtorch::train
