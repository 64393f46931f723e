// `cladtorch train`: from a configuration to a folder with checkpoints, a log and a report.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/train/config.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// What the command line asks for.
struct TrainRequest {
  std::vector<std::string> set;                 ///< "section.key=value", applied last and in order
  std::optional<std::filesystem::path> config;  ///< TOML file
  /// Folder of the model to finetune: model.from, over the defaults of finetune_defaults().
  std::optional<std::filesystem::path> from = {};
  std::optional<std::filesystem::path> resume;  ///< run folder; its own config.toml comes before `config`
};

/// The configuration of a request, checked, with the name of the run filled in; `run.out` stays empty where
/// the user left the folder to the program. Throws Error or UsageError; touches nothing.
TrainConfig resolve_config(const TrainRequest& request);

/// Trains until the end, Ctrl-C or an error, telling a person about it on `out`. The folder config.run.out
/// receives
///     config.toml  log.jsonl  report.html  last/  best/
/// Returns the exit code: 0, or 130 after Ctrl-C. Throws Error; what last/ and best/ held stays complete.
int run_training(const TrainRequest& request, std::FILE* out);

}  // namespace cladtorch::train
