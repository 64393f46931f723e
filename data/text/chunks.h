// Files of text in chunks that can be worked on apart from each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cladtorch/data/text_files.h"
#include "data/text/byte_source.h"

namespace cladtorch::data {

/// A part of one file: of JSON Lines whole lines, of plain text as much as was asked for.
struct Chunk {
  size_t file = 0;        ///< in TextFiles::paths()
  uint64_t offset = 0;    ///< of `text` in the (decompressed) file
  uint64_t line = 1;      ///< number of its first line (JSON Lines only)
  bool begins = false;    ///< the first of its file
  bool ends = false;      ///< the last of its file
  uint64_t consumed = 0;  ///< bytes on disk of all files, read until here
  std::string text{};     ///< empty only where the whole file is
};

class ChunkReader {
 public:
  /// How much at the start of a text may be worked on apart from the rest; 0 where more of it is needed.
  using Cut = std::function<size_t(std::string_view)>;

  /// Chunks of at most `chunk_bytes`, unless `cut` or a line needs more. `files` must outlive the reader.
  ChunkReader(const TextFiles& files, size_t chunk_bytes, Cut cut)
      : files_(files), chunk_bytes_(chunk_bytes), cut_(std::move(cut)) {}

  /// The next chunk in the order of the files; nothing after the last. Throws Error naming the file.
  std::optional<Chunk> next();

 private:
  void open_file();
  size_t cut(std::string_view text) const;
  void check_uncut(size_t bytes) const;

  const TextFiles& files_;
  size_t chunk_bytes_;
  Cut cut_;
  size_t file_ = 0;  // the next to be opened
  std::unique_ptr<ByteSource> source_;
  uint64_t offset_ = 0, line_ = 1;
  uint64_t consumed_before_ = 0;  // by files that are finished
  std::string rest_;              // read, and not given yet
};

}  // namespace cladtorch::data
