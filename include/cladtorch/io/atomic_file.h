// Files that appear under their names only when they are complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "cladtorch/io/held_signals.h"

namespace cladtorch::io {

/// A file written under a temporary name in its final folder and renamed by commit(): a reader of `path` sees
/// the old content or all of the new one, also after a crash. Destroyed without commit(), it removes the
/// temporary file, and a signal that ends the process waits for that. Every failure throws cladtorch::Error
/// with one line that names the path and the way out.
class AtomicFile {
 public:
  /// Creates `path.tmp-<pid>`; the folder must exist.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Flushes to disk, renames to `path` and flushes the folder. Call it once, as the last function.
  void commit();

 private:
  HeldSignals signals_;  // the last to be destroyed
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes the whole of `text` to `path` through an AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

/// A descriptor to read `path` by. Throws cladtorch::Error if it cannot be opened, or is a named pipe,
/// which might never give anything.
int open_to_read(const std::filesystem::path& path);

/// The whole content of `path`; throws cladtorch::Error if open_to_read() does, if it cannot be read, or
/// is a shell's pipe or a device that gives more than 256 MB.
std::string read_file(const std::filesystem::path& path);

/// Creates `path` and its parents, and checks that a file can be made in it.
void create_writable_folder(const std::filesystem::path& path);

/// Flushes a folder's entries to disk, so that a rename inside it survives a power cut.
void sync_folder(const std::filesystem::path& path);

/// Replaces `target` with the finished folder `fresh` (both in the same parent). If the file system can
/// exchange two names, `target` is complete at every instant; otherwise the old folder is `target.old`
/// between two renames, where recover_folder() finds it.
void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& target);

/// Cleans up after an interrupted replace_folder(`target`) or its preparation: restores `target.old` if
/// `target` is missing, and removes what remove_temporaries() removes.
void recover_folder(const std::filesystem::path& target);

/// Removes `target.tmp-<number>`, the file or folder that a process killed while writing `target` left.
void remove_temporaries(const std::filesystem::path& target);

/// One line for a failed system call on `path`, with the action, the reason, and the way out.
std::string describe_failure(std::string_view action, const std::filesystem::path& path, int error_number);

}  // namespace cladtorch::io
