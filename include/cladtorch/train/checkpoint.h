// Everything that a run needs to continue exactly where it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/data/loader.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/train/adapter.h"
#include "cladtorch/train/optimizer.h"

namespace cladtorch::train {

/// The progress of a run.
struct TrainerState {
  int64_t step = 0;              ///< updates done
  int64_t steps = 0;             ///< updates of the whole run
  int64_t configured_steps = 0;  ///< train.steps, before a time limit reduced it
  std::optional<double> best_val{};
  int64_t best_step = 0;
  std::optional<double> val_loss{};   ///< of the last evaluation
  std::optional<double> first_val{};  ///< before the first update, if it was evaluated
  int64_t evaluations_since_best = 0;
  int64_t tokens = 0;         ///< trained on so far
  double seconds = 0;         ///< spent training, over all sessions
  uint64_t train_tokens = 0;  ///< size of the training text: another text is refused
  data::LoaderState loader{};
  std::string base_fingerprint{};  ///< of the model on which an adapter is trained; empty: no adapter
};

/// The files that a new model is written with: those of its tokenizer, and the roles of its tokens.
formats::FolderExtras extras_of(const data::Tokenizer& tokenizer);

/// Writes the folder `path` (model.safetensors, config.json, the files of `extras`, optimizer.safetensors,
/// trainer_state.json) beside its final place and exchanges it for the old one: a kill at any moment leaves
/// one complete checkpoint under this name. The parent of `path` must exist. With `adapter`, the files of
/// PEFT with the model's adapters replace those of the model. With `float8`, float8.safetensors holds the
/// largest values of its layers. `whole`, unless empty, is called for each tensor of the optimizer's state in
/// its order, and returns it with the shares of other ranks.
using WholeState = std::function<Tensor(const TensorList& state, size_t tensor)>;
void save_checkpoint(const std::filesystem::path& path, const LanguageModel& model,
                     const Optimizer& optimizer, const TrainerState& state,
                     const formats::FolderExtras& extras, const AdapterRun* adapter = nullptr,
                     const Float8Layers* float8 = nullptr, const WholeState& whole = {});

/// The tokenizer of `model` in the folder `checkpoint`. Throws Error if it has tokens that the model lacks;
/// the model may have rows for more tokens.
data::TokenizerPtr load_tokenizer(const std::filesystem::path& checkpoint, const LanguageModel& model);

TrainerState load_trainer_state(const std::filesystem::path& checkpoint);
/// Reads the state and the step count; throws Error if they belong to another optimizer or other parameters.
/// Reads what the optimizer keeps state for: all, or its share.
void load_optimizer(const std::filesystem::path& checkpoint, Optimizer& optimizer);
/// Reads the largest values of layers in 8 bits, if the checkpoint has them. Throws Error if it has other
/// layers.
void load_float8(const std::filesystem::path& checkpoint, Float8Layers& float8);

/// The checkpoint for `path`: itself if it holds a model.safetensors, else its best/, else its last/. Throws
/// Error that names what it looked for.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

}  // namespace cladtorch::train
