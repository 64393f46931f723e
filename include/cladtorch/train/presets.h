// Models of published sizes by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// Those of gpt2_preset and llama_preset.
std::vector<std::string> preset_names();

/// The float32 model of that name, for sequences of `context` tokens at least; its weights are drawn, unless
/// an nn::SkipInitialization says otherwise. Throws UsageError, with `where`, for any other name.
std::unique_ptr<LanguageModel> preset_model(const std::string& name, int64_t context,
                                            const std::string& where);

}  // namespace cladtorch::train
