#include "cladtorch/train/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cladtorch/comm/communicator.h"

namespace cladtorch::train {
namespace {

constexpr int bar_width = 14;
constexpr auto redraw_every = std::chrono::milliseconds(100);
constexpr int plain_width = 160;
constexpr int unknown_terminal_width = 80;

/// Source: https://no-color.org
bool wants_escape_sequences() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

std::string progress_bar(double share) {
  const auto filled = static_cast<size_t>(std::clamp(bar_width * share, 0.0, 1.0 * bar_width));
  return std::string(filled, '#') + std::string(bar_width - filled, '-');
}

StatusLine::StatusLine(std::FILE* stream)
    : stream_(stream),
      terminal_(comm::prints_to_terminal(::fileno(stream))),
      escapes_(terminal_ && wants_escape_sequences()) {}

StatusLine::~StatusLine() {
  if (open_) write("\n");
}

int StatusLine::width() const {
  if (!terminal_) return plain_width;
  winsize size{};
  const bool known = ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : unknown_terminal_width) - 1;
}

bool StatusLine::due() const { return std::chrono::steady_clock::now() - shown_ >= redraw_every; }

// A terminal that is gone, or a reader that is, must not end the work.
void StatusLine::write(const std::string& text) { std::fputs(text.c_str(), stream_); }

void StatusLine::show(const std::string& line, bool keep) {
  shown_ = std::chrono::steady_clock::now();
  if (!terminal_) {
    write(line + "\n");
  } else {
    write(escapes_ ? "\r" + line + "\x1b[K" : fmt::format("\r{:<{}}", line, length_));
    if (keep) write("\n");
    open_ = !keep;
    length_ = keep ? 0 : line.size();
  }
  std::fflush(stream_);
}

void StatusLine::clear() {
  if (!open_) return;
  write(escapes_ ? "\r\x1b[K" : fmt::format("\r{:<{}}\r", "", length_));
  open_ = false;
  length_ = 0;
}

void StatusLine::message(const std::string& text) {
  clear();
  write(text + "\n");
  std::fflush(stream_);
}

}  // namespace cladtorch::train
