// Where a training run keeps its files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/io/folder_lock.h"
#include "cladtorch/train/config.h"

namespace cladtorch::train {

/// The folder of one run, held by one process at a time.
class RunFolder {
 public:
  /// For a new run: config.run.out, or runs/<name>, runs/<name>-2 ... where that is empty. Touches nothing;
  /// throws Error when the named folder holds files of a run.
  static RunFolder for_new_run(const TrainConfig& config);
  /// For a run to be continued: locks it and repairs what a kill left. Throws Error when it is in use or
  /// holds no checkpoint.
  static RunFolder of_run(const std::filesystem::path& path);

  /// One that another rank of the run holds.
  static RunFolder of_others(const std::filesystem::path& path);

  /// Makes and locks the folder of a new run. A folder without a given name gets the next free number.
  void claim();

  const std::filesystem::path& path() const { return path_; }

 private:
  RunFolder() = default;
  bool try_claim();

  std::filesystem::path path_;
  std::string unnumbered_;  // "runs/<name>"; empty for a folder that the user named
  std::optional<io::FolderLock> lock_;
};

}  // namespace cladtorch::train
