// A text file or a folder of them, read in pieces.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace cladtorch::data {

/// The files of a text, in the order in which they are read: a single file, or every regular file below a
/// folder sorted by path. Names that begin with a dot are passed over.
class TextFiles {
 public:
  /// Throws Error when `path` is missing, not a file or folder, or holds nothing but empty files.
  explicit TextFiles(const std::filesystem::path& path);

  const std::vector<std::filesystem::path>& paths() const { return paths_; }

  /// Gives the whole text to `visit` in pieces of at most `piece_bytes`. A newline is put between two files
  /// where the first does not end with one. With `utf8`, each piece holds whole characters, and a file that
  /// is not UTF-8 throws Error naming it and the byte offset. `piece_bytes` must be at least 4.
  void read(bool utf8, const std::function<void(std::string_view)>& visit,
            size_t piece_bytes = size_t{1} << 20) const;

 private:
  std::filesystem::path root_;
  std::vector<std::filesystem::path> paths_;
};

}  // namespace cladtorch::data
