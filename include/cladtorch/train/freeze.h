// Selects the parameters of a model that a run trains.
#pragma once

#include <string>

#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// Globs, separated by commas, of names of parameters or of prefixes of names: "transformer.wte*",
/// "transformer.h.[0-5]", "*.ln_1.bias". Names are those of the model's file; a GPT-2's may lack
/// "transformer.". `*` also stands for dots.
struct TrainedParameters {
  std::string freeze = {};      ///< not trained
  std::string train_only = {};  ///< nothing else is trained; empty: all
};

/// Freezes the parameters that are not trained; frozen parameters stay frozen. Throws UsageError for a
/// pattern that matches none, with the closest name, and if nothing would be left to train.
void freeze_parameters(LanguageModel& model, const TrainedParameters& which);

}  // namespace cladtorch::train
