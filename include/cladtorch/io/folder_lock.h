// A lock that admits one process at a time to a folder.
#pragma once

#include <filesystem>
#include <optional>

namespace cladtorch::io {

/// A lock that is held until the object or the process ends, however it ends. It leaves no file behind.
class FolderLock {
 public:
  /// The lock on the folder `path`, or nothing while another holds it. Throws cladtorch::Error when there is
  /// no such folder. On a file system without locks every process gets it, and the first
  /// time a warning goes to standard error.
  static std::optional<FolderLock> try_lock(const std::filesystem::path& path);

  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace cladtorch::io
