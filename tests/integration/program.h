// Runs the built program as a user does.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cladtorch::integration {

struct Outcome {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out, err;
  size_t peak_bytes = 0;  ///< most memory that it had at a time
};

/// A running program. Its output goes to files, so that it never waits for a reader.
class Program {
 public:
  struct Options {
    std::filesystem::path folder;             ///< working directory
    std::filesystem::path standard_output{};  ///< instead of a file that Outcome::out is read from
    std::optional<size_t> file_size_limit{};  ///< bytes, as by ulimit -f
    std::function<void()> before{};  ///< called in the new process before the program takes its place
  };

  Program(const std::vector<std::string>& arguments, const Options& options);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  /// What it has written to standard output so far.
  std::string output() const;
  bool running();
  Outcome wait();

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  rusage usage_{};
  std::filesystem::path out_, err_;
};

/// Runs it to its end.
Outcome run(const std::vector<std::string>& arguments, const Program::Options& options);

}  // namespace cladtorch::integration
