// `cladtorch train`, which turns a configuration into a folder with checkpoints, a log and a report.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// The options of the command line.
struct TrainRequest {
  std::vector<std::string> set;                 ///< "section.key=value", applied last and in order
  std::optional<std::filesystem::path> config;  ///< TOML file
  /// Folder of the model to finetune: model.from, over the defaults of finetune_defaults().
  std::optional<std::filesystem::path> from = {};
  std::optional<std::filesystem::path> resume;  ///< run folder; its own config.toml comes before `config`
};

/// Trains until the end, Ctrl-C or an error, and reports progress on `out`. The folder config.run.out gets
///     config.toml  log.jsonl  report.html  last/  best/
/// Returns the exit code: 0, or 130 after Ctrl-C. Throws Error; last/ and best/ then stay complete. All
/// `ranks` call this with the same request; the first alone prints and writes.
int run_training(const TrainRequest& request, std::FILE* out, comm::Communicator& ranks = comm::self());

}  // namespace cladtorch::train
