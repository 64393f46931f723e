#include "cladtorch/train/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace cladtorch::train {
namespace {

constexpr int bar_width = 14;
constexpr auto redraw_every = std::chrono::milliseconds(100);
constexpr int plain_width = 160;
constexpr int unknown_terminal_width = 80;

int terminal_width(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return unknown_terminal_width;
}

/// Source: https://no-color.org
bool wants_escape_sequences() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string bar(int64_t step, int64_t steps) {
  const auto filled = static_cast<size_t>(
      std::clamp(bar_width * step / std::max<int64_t>(steps, 1), int64_t{0}, int64_t{bar_width}));
  return std::string(filled, '#') + std::string(bar_width - filled, '-');
}

}  // namespace

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
  parts.push_back(bar(record.step, state.steps));

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

ProgressDisplay::ProgressDisplay(std::FILE* stream, int64_t log_every)
    : stream_(stream),
      log_every_(log_every),
      terminal_(::isatty(::fileno(stream)) != 0),
      escapes_(terminal_ && wants_escape_sequences()) {}

// A terminal that is gone, or a reader that is, must not end the training.
void ProgressDisplay::write(const std::string& text) { std::fputs(text.c_str(), stream_); }

ProgressDisplay::~ProgressDisplay() {
  if (line_open_) write("\n");
}

void ProgressDisplay::show(const StepRecord& record, const ProgressState& state) {
  const bool last = record.step >= state.steps;
  if (!terminal_) {
    if (record.step % log_every_ != 0 && !record.val_loss && !last) return;
    write(progress_line(record, state, plain_width) + "\n");
    std::fflush(stream_);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < redraw_every && !record.val_loss && !last) return;
  shown_ = now;
  const std::string line = progress_line(record, state, terminal_width(stream_) - 1);
  if (escapes_) {
    write("\r" + line + "\x1b[K");
  } else {
    write(fmt::format("\r{:<{}}", line, line_length_));
  }
  line_open_ = true;
  line_length_ = line.size();
  if (record.val_loss) {
    write("\n");  // evaluations stay on the screen
    line_open_ = false;
    line_length_ = 0;
  }
  std::fflush(stream_);
}

void ProgressDisplay::clear_line() {
  if (!line_open_) return;
  if (escapes_) {
    write("\r\x1b[K");
  } else {
    write(fmt::format("\r{:<{}}\r", "", line_length_));
  }
  line_open_ = false;
  line_length_ = 0;
}

void ProgressDisplay::message(const std::string& text) {
  clear_line();
  write(text + "\n");
  std::fflush(stream_);
}

}  // namespace cladtorch::train
