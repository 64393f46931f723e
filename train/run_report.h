// The report of one training run.
#pragma once

#include <vector>

#include "cladtorch/data/dataset.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/report.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// What a session knows when it ends.
struct RunSummary {
  const TrainConfig& config;
  const data::Dataset& data;
  const Trainer& trainer;
  MemoryUse memory;
  double peak_flops = 0;
  std::vector<StepRecord> records;
  std::vector<ReportSample> samples;
};

/// How far the best validation loss lies above the entropy of the text: "4.5 %"; "" where that is not known.
std::string above_floor(const data::Dataset& data, const TrainerState& state);

/// Continuations of sample.prompt as the configuration asks for them. Without a prompt, leading empty lines
/// are left out.
std::vector<ReportSample> draw_samples(const TrainConfig& config, const GPT2& model,
                                       const data::Tokenizer& tokenizer);

Report run_report(const RunSummary& summary);

}  // namespace cladtorch::train
