// The model that a session of a run begins with.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/data/dataset.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/train/config.h"

namespace cladtorch::train {

/// A new model; with model.from the one in that folder, whose sizes then replace those of `config`: a key of
/// them that is among `given`, what the user set for this session, must say the same.
/// Parameters that are not to be trained are frozen. A resumed run reads its weights from `checkpoint`: none
/// are drawn, and the folder that it came from is not needed. Throws Error or UsageError naming what does not
/// fit.
std::unique_ptr<LanguageModel> initial_model(TrainConfig& config, const std::vector<std::string>& given,
                                             const data::Dataset& data,
                                             const std::optional<std::filesystem::path>& checkpoint);

}  // namespace cladtorch::train
