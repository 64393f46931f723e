#include "cladtorch/train/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cladtorch::train {

std::string short_count(double value) {
  if (value >= 1e9) return fmt::format("{:.1f}B", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.1f}M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.0f}k", value / 1e3);
  if (value >= 1e3) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

std::string short_duration(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e15)));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string short_bytes(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:.1f} kB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

std::string progress_line(const StepRecord& record, const ProgressState& state, int width) {
  const std::string steps = std::to_string(state.steps);
  std::vector<std::string> parts = {fmt::format("step {:>{}}/{}", record.step, steps.size(), steps),
                                    fmt::format("loss {:.3f}", record.loss)};
  if (state.val_loss) {
    std::string val = fmt::format("val {:.3f}", *state.val_loss);
    if (state.floor) val += fmt::format(" (floor {:.3f})", *state.floor);
    parts.push_back(val);
  }
  parts.push_back(fmt::format("eta {}", short_duration(state.eta_seconds)));
  parts.push_back(fmt::format("{} tok/s", short_count(record.tokens_per_second)));
  if (state.peak_flops > 0) {
    const double share = 100.0 * record.tokens_per_second * state.flops_per_token / state.peak_flops;
    parts.push_back(fmt::format("{:.0f} % of peak", share));
  }
  parts.push_back(fmt::format("lr {:.1e}", record.lr));
  parts.push_back(fmt::format("norm {:.2f}", record.grad_norm));
  parts.push_back(progress_bar(static_cast<double>(record.step) /
                               static_cast<double>(std::max<int64_t>(state.steps, 1))));

  // In order of importance they are dropped; in the order in which a person reads they are shown.
  size_t shown = 0, length = 0;
  while (shown < parts.size()) {
    const size_t next = length + (shown > 0 ? 2 : 0) + parts[shown].size();
    if (shown > 0 && next > static_cast<size_t>(width)) break;
    length = next;
    ++shown;
  }
  const bool with_bar = shown == parts.size();
  std::string line = parts[0];
  if (with_bar) line += "  " + parts.back();
  const size_t eta = state.val_loss ? 3 : 2;
  for (size_t i = 1; i < shown - (with_bar ? 1 : 0); ++i) {
    if (i != eta) line += "  " + parts[i];
  }
  if (shown > eta) line += "  " + parts[eta];
  return line.substr(0, static_cast<size_t>(width));
}

void ProgressDisplay::show(const StepRecord& record, const ProgressState& state) {
  const bool evaluated = record.val_loss.has_value(), last = record.step >= state.steps;
  const bool due = line_.terminal() ? line_.due() : record.step % log_every_ == 0;
  if (due || evaluated || last) line_.show(progress_line(record, state, line_.width()), evaluated);
}

}  // namespace cladtorch::train
