// The log of a run, log.jsonl, with one JSON object per line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace cladtorch::train {

/// One optimizer update.
struct StepRecord {
  int64_t step = 0;  ///< 1 after the first update
  double loss = 0;   ///< mean over the step's micro-batches, before the update
  double lr = 0;
  double grad_norm = 0;  ///< before clipping
  int64_t tokens = 0;    ///< seen so far, this step's included
  double seconds = 0;    ///< spent training and evaluating so far, over all sessions
  double tokens_per_second = 0;
  std::optional<double> val_loss{};  ///< after the update, if it was evaluated
};

/// All records of the log `path`, in order, without a last line that a kill truncated. Throws Error naming a
/// line that is not a record or not later than the one before it.
std::vector<StepRecord> read_run_log(const std::filesystem::path& path);

/// Appends records to a file, each line flushed, so that a killed run keeps its log.
class RunLog {
 public:
  /// Starts the log of a run that is at `step`: keeps the lines up to it and drops later ones, which a
  /// resumed run will write again. Throws Error if the file cannot be read or written.
  RunLog(const std::filesystem::path& path, int64_t step);

  void write(const StepRecord& record);

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace cladtorch::train
