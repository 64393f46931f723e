// What was measured to be fastest, in a file, so that the next process need not time it again and computes
// the same bits: $XDG_CACHE_HOME/cladtorch/cuda_choices or ~/.cache/cladtorch/cuda_choices. A line holds the
// machine, what was chosen for, and the choice, with tabs between. Lines that are not so are ignored, and so
// is a file that cannot be read or written: it saves time, no more.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// Where it lies; empty if the environment names no home.
std::filesystem::path choice_path();

/// For any number of threads.
class ChoiceFile {
 public:
  /// Reads the file. `machine` is what a choice is good for.
  ChoiceFile(std::filesystem::path path, std::string machine);

  std::optional<std::string> find(const std::string& key) const;
  /// Adds it to the file too, beside what other processes have written since. Neither text may be empty or
  /// hold a tab or the end of a line.
  void add(const std::string& key, const std::string& choice);

 private:
  using Lines = std::map<std::string, std::string>;  // machine and key: choice

  Lines read() const;
  void write(const Lines& lines) const;

  std::filesystem::path path_;
  std::string machine_;
  mutable std::mutex mutex_;
  Lines known_;
};

/// That of a device, with its name and driver as the machine.
ChoiceFile& choice_file(Device device);

}  // namespace cladtorch::cuda
