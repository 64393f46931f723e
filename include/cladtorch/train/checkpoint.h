// All that a run needs to continue exactly where it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/data/loader.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
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
  std::optional<double> val_loss{};   ///< of the last evaluation
  std::optional<double> first_val{};  ///< before the first update, where that was evaluated
  int64_t evaluations_since_best = 0;
  int64_t tokens = 0;         ///< trained on so far
  double seconds = 0;         ///< spent training, over all sessions
  uint64_t train_tokens = 0;  ///< size of the training text: another text is refused
  data::LoaderState loader{};
  std::string base_fingerprint{};  ///< of the model that an adapter is trained on; empty: no adapter
};

/// What goes beside a model that was made here: the files of its tokenizer, and the roles of its tokens.
formats::FolderExtras extras_of(const data::Tokenizer& tokenizer);

/// Writes the folder `path` (model.safetensors, config.json, the files of `extras`, optimizer.safetensors,
/// trainer_state.json) beside its final place and exchanges it for the old one: a kill at any moment leaves
/// one complete checkpoint under this name. The folder that `path` lies in must exist. With `adapter`, the
/// files of PEFT take the place of the model's: the model's adapters alone. With `float8`, float8.safetensors
/// holds what its layers remember.
void save_checkpoint(const std::filesystem::path& path, const LanguageModel& model, const AdamW& optimizer,
                     const TrainerState& state, const formats::FolderExtras& extras,
                     const AdapterRun* adapter = nullptr, const Float8Layers* float8 = nullptr);

/// The tokenizer of `model`, which lies in the folder `checkpoint`. Throws Error where it has tokens that the
/// model has not; a model may have rows for more than it.
data::TokenizerPtr load_tokenizer(const std::filesystem::path& checkpoint, const LanguageModel& model);

TrainerState load_trainer_state(const std::filesystem::path& checkpoint);
/// Reads the moments and the step count; throws Error when they belong to other parameters.
void load_optimizer(const std::filesystem::path& checkpoint, AdamW& optimizer);
/// Reads what layers in 8 bits remember; nothing where the checkpoint was written without them. Throws Error
/// when it has other layers.
void load_float8(const std::filesystem::path& checkpoint, Float8Layers& float8);

/// The checkpoint that `path` means: itself if it holds a model.safetensors, else its best/, else its last/.
/// Throws Error that says what was looked for.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace cladtorch::train
