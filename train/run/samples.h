// Texts that a run shows at its end.
#pragma once

#include <vector>

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/run_record.h"

namespace cladtorch::train {

/// Continuations of sample.prompt as the configuration asks for them. Without a prompt, leading empty lines
/// are left out.
std::vector<ReportSample> draw_samples(const TrainConfig& config, const LanguageModel& model,
                                       const data::Tokenizer& tokenizer);

}  // namespace cladtorch::train
