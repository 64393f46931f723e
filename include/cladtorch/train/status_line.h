// A line of text that is overwritten while it changes, where the stream is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace cladtorch::train {

/// No escape sequences when NO_COLOR is set or the terminal is a dumb one. A stream that takes no more is no
/// error.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* stream);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool terminal() const { return terminal_; }
  /// Columns that a line may take.
  int width() const;
  /// Whether the line has been on the screen long enough to be replaced.
  bool due() const;
  /// Replaces the line. `keep`: it stays on the screen and the next one comes below.
  void show(const std::string& line, bool keep);
  /// A line of its own, above the changing one.
  void message(const std::string& text);

 private:
  void write(const std::string& text);
  void clear();

  std::FILE* stream_;
  bool terminal_;
  bool escapes_;
  bool open_ = false;
  size_t length_ = 0;
  std::chrono::steady_clock::time_point shown_{};
};

/// "######--------".
std::string progress_bar(double share);

}  // namespace cladtorch::train
