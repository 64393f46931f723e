// A line of text that is overwritten when it changes, if the stream is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace cladtorch::train {

/// Writes no escape sequences if NO_COLOR is set or the terminal is a dumb one. A stream that takes no more
/// output is not an error.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* stream);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool terminal() const { return terminal_; }
  /// The number of columns that a line may take.
  int width() const;
  /// Whether the line has been on the screen long enough to be replaced.
  bool due() const;
  /// Replaces the line. If `keep`, it stays on the screen and the next one appears below.
  void show(const std::string& line, bool keep);
  /// Writes a separate line above the changing one.
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
