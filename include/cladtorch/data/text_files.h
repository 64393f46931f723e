// The files of a text: plain or as JSON Lines, compressed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::data {

/// How the lines of JSON Lines become text.
struct TextOptions {
  /// The key that holds the text. Where it is given, every file is read as JSON Lines; where it is not, files
  /// named .jsonl or .ndjson are, and each line says by its keys what it is (docs/data.md).
  std::string field{};
  /// Passes over lines that cannot be used, and counts them, instead of throwing.
  bool skip_invalid = false;
};

/// The files of a text, in the order in which they are read: a single file, or every regular file below a
/// folder sorted by path. Names that begin with a dot are passed over. Names that end in .gz and .zst are
/// decompressed.
class TextFiles {
 public:
  /// Throws Error when `path` is missing, not a file or folder, or holds nothing but empty files.
  explicit TextFiles(const std::filesystem::path& path, TextOptions options = {});

  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  const TextOptions& options() const { return options_; }
  /// Whether file `index` of paths() is JSON Lines.
  bool is_json_lines(size_t index) const { return json_lines_[index]; }
  /// Whether any file is.
  bool has_json_lines() const;
  /// Bytes of all files on disk.
  uint64_t bytes() const { return bytes_; }

  /// Gives the whole text to `visit` in pieces: of a plain file at most `piece_bytes` each, of JSON Lines the
  /// texts of the lines. A newline is put between two documents (files, lines) where the first does not end
  /// with one. With `utf8`, each piece holds whole characters, and a file that is not UTF-8 throws Error
  /// naming it and the byte offset. `piece_bytes` must be at least 4.
  void read(bool utf8, const std::function<void(std::string_view)>& visit,
            size_t piece_bytes = size_t{1} << 20) const;

 private:
  std::vector<std::filesystem::path> paths_;
  TextOptions options_;
  std::vector<bool> json_lines_;
  uint64_t bytes_ = 0;
};

}  // namespace cladtorch::data
