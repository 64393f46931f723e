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
  /// The key that holds the text. If it is given, every file is read as JSON Lines. Otherwise only files
  /// named .jsonl or .ndjson are, and the keys of each line say how it is read (docs/data.md).
  std::string field{};
  /// Skips and counts invalid lines instead of throwing.
  bool skip_invalid = false;
};

/// The files of a text, in the order in which they are read: a single file, or every regular file below a
/// folder sorted by path. Names that begin with a dot are skipped. Files whose names end in .gz or .zst are
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

  /// Passes the whole text to `visit` in pieces: at most `piece_bytes` of a plain file, or the text of a line
  /// of JSON Lines. A newline is put between two documents (files, lines) if the first does not end with one.
  /// With `utf8`, each piece holds whole characters, and a file that is not UTF-8 throws Error naming it and
  /// the byte offset. `piece_bytes` must be at least 4.
  void read(bool utf8, const std::function<void(std::string_view)>& visit,
            size_t piece_bytes = size_t{1} << 20) const;

 private:
  std::vector<std::filesystem::path> paths_;
  TextOptions options_;
  std::vector<bool> json_lines_;
  uint64_t bytes_ = 0;
};

}  // namespace cladtorch::data
