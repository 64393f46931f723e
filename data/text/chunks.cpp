#include "data/text/chunks.h"

#include <algorithm>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace {

/// A line, or a text that cannot be cut, is refused beyond this: all of it would have to be in memory.
constexpr size_t most_uncut = size_t{1} << 30;

}  // namespace

void ChunkReader::open_file() {
  source_ = ByteSource::open(files_.paths()[file_++]);
  offset_ = 0;
  line_ = 1;
  rest_.clear();
}

size_t ChunkReader::cut(std::string_view text) const {
  if (!files_.is_json_lines(file_ - 1)) return cut_(text);
  return text.rfind('\n') + 1;  // npos + 1 is 0
}

void ChunkReader::check_uncut(size_t bytes) const {
  const std::string file = files_.paths()[file_ - 1].string();
  if (bytes < most_uncut) return;
  if (files_.is_json_lines(file_ - 1)) fail("read text: '", file, "', line ", line_, " is longer than 1 GB");
  fail("read text: '", file, "' holds more than 1 GB from byte ", offset_, " on without a place to cut it; ",
       "split the file");
}

std::optional<Chunk> ChunkReader::next() {
  if (!source_) {
    if (file_ == files_.paths().size()) return std::nullopt;
    open_file();
  }
  Chunk chunk{.file = file_ - 1, .offset = offset_, .line = line_, .begins = offset_ == 0};
  chunk.text = std::move(rest_);
  rest_.clear();
  // One byte more than is given away: so the last chunk of a file is known when it is cut, and never empty.
  for (size_t wanted = chunk_bytes_ + 1;; wanted *= 2) {
    if (const size_t filled = chunk.text.size(); filled < wanted) {
      chunk.text.resize(wanted);
      const size_t got = source_->read(chunk.text.data() + filled, wanted - filled);
      chunk.text.resize(filled + got);
      chunk.ends = filled + got < wanted;
      if (chunk.ends) break;
    }
    if (const size_t whole = cut(std::string_view(chunk.text).substr(0, wanted - 1)); whole > 0) {
      rest_ = chunk.text.substr(whole);
      chunk.text.resize(whole);
      break;
    }
    check_uncut(wanted);
  }
  chunk.consumed = consumed_before_ + source_->consumed();
  offset_ += chunk.text.size();
  if (files_.is_json_lines(chunk.file)) {
    line_ += static_cast<uint64_t>(std::count(chunk.text.begin(), chunk.text.end(), '\n'));
  }
  if (chunk.ends) {
    consumed_before_ = chunk.consumed;
    source_.reset();
  }
  return chunk;
}

}  // namespace cladtorch::data
