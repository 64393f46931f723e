// What a run measured, one JSON object a line: log.jsonl.
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
  double tokens_per_second = 0;
  std::optional<double> val_loss{};  ///< after the update, when it was evaluated
};

/// Appends records to a file, each line flushed, so that a killed run keeps its log.
class RunLog {
 public:
  /// Starts the log of a run that is at `step`: keeps the lines up to it and drops later ones, which a
  /// resumed run will write again. Throws Error when the file cannot be read or written.
  RunLog(const std::filesystem::path& path, int64_t step);

  void write(const StepRecord& record);
  /// Everything in the file, in order.
  const std::vector<StepRecord>& records() const { return records_; }

 private:
  std::filesystem::path path_;
  std::vector<StepRecord> records_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace cladtorch::train
