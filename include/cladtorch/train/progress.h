// The progress line of training.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "cladtorch/train/run_log.h"
#include "cladtorch/train/status_line.h"

namespace cladtorch::train {

/// What the line shows besides the step itself.
struct ProgressState {
  int64_t steps = 0;  ///< of the whole run
  std::optional<double> val_loss{};
  std::optional<double> floor{};  ///< nats per token that no model can beat
  double flops_per_token = 0;
  double peak_flops = 0;  ///< measured; 0 hides the percentage
  double eta_seconds = 0;
};

/// The text of one progress line, of at most `width` columns. Parts that do not fit are left out, the last
/// ones first.
std::string progress_line(const StepRecord& record, const ProgressState& state, int width);

/// "61k", "850", "1.2M".
std::string short_count(double value);
/// "0:07", "1:02", "1:00:05".
std::string short_duration(double seconds);
/// "850 B", "3.2 MB" (1 MB is 10^6 bytes).
std::string short_bytes(double bytes);

/// Writes progress to a stream. A terminal gets one line that is overwritten, at most ten times a second, and
/// kept at evaluations; other streams get a plain line every `log_every` steps.
class ProgressDisplay {
 public:
  ProgressDisplay(std::FILE* stream, int64_t log_every) : line_(stream), log_every_(log_every) {}

  void show(const StepRecord& record, const ProgressState& state);
  /// Writes a separate line above the progress line.
  void message(const std::string& text) { line_.message(text); }

 private:
  StatusLine line_;
  int64_t log_every_;
};

}  // namespace cladtorch::train
