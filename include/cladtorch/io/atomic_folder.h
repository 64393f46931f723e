// Folders that appear under their names only when they are complete.
#pragma once

#include <filesystem>

#include "cladtorch/io/held_signals.h"

namespace cladtorch::io {

/// A folder filled under a temporary name beside its final one and renamed by commit(): a reader of
/// `target` sees the old folder or all of the new one, also after a crash. Destroyed without commit(),
/// it removes its files, and a signal that ends the process waits for that. Every failure throws
/// cladtorch::Error with one line that names the path.
class AtomicFolder {
 public:
  /// Creates `target.tmp-<pid>`, and removes such folders of processes that were killed. The parent must
  /// exist.
  explicit AtomicFolder(const std::filesystem::path& target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// The folder to write into until commit().
  const std::filesystem::path& path() const { return fresh_; }

  /// Replaces `target` with the folder. Call it once, as the last function.
  void commit();

 private:
  HeldSignals signals_;  // the last to be destroyed
  std::filesystem::path target_, fresh_;
};

/// Throws Error unless `path` is missing or an empty folder. Creates its parents.
void require_new_folder(const std::filesystem::path& path);

}  // namespace cladtorch::io
