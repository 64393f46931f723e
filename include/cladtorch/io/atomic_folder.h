// Folders that appear under their name only when complete.
#pragma once

#include <filesystem>

#include "cladtorch/io/held_signals.h"

namespace cladtorch::io {

/// A folder filled under a temporary name beside its final one and renamed by commit(): whoever opens
/// `target` sees what was there before or all of the new one, also after a crash. Destroyed without commit(),
/// it removes what was written, and a signal that ends the process waits for that. Every failure throws
/// cladtorch::Error with one line that names the path.
class AtomicFolder {
 public:
  /// Creates `target.tmp-<pid>`, and removes what a process that was killed left of such a folder. The parent
  /// must exist.
  explicit AtomicFolder(const std::filesystem::path& target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write until commit().
  const std::filesystem::path& path() const { return fresh_; }

  /// Puts the folder in the place of `target`. Call once, last.
  void commit();

 private:
  HeldSignals signals_;  // the last to be destroyed
  std::filesystem::path target_, fresh_;
};

/// Throws Error unless `path` is free to become a folder: missing, or an empty folder. Makes its parents.
void require_new_folder(const std::filesystem::path& path);

}  // namespace cladtorch::io
