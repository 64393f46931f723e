// Whole files in memory, and zlib's streams.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "cladtorch/io/mapped_file.h"

namespace cladtorch::data {

using Bytes = std::span<const std::byte>;

/// Decompresses memory with zlib.
class Inflater {
 public:
  /// `window_bits` is that of inflateInit2: -15 for a raw stream, 31 for gzip.
  Inflater(Bytes packed, int window_bits);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The next bytes; fewer than `size` only at the end of the stream or of the input, or if it is damaged.
  size_t read(char* out, size_t size);
  bool ended() const { return state_ == Z_STREAM_END; }
  /// What is wrong with the input, or null.
  const char* damage() const;
  /// The input that was not read yet.
  Bytes rest() const { return packed_; }

 private:
  Bytes packed_;
  z_stream stream_{};
  int state_ = Z_OK;
};

/// A raw deflate stream of `bytes`.
std::string deflated(Bytes bytes);

/// The content of a file; where it begins as gzip does, what is compressed in it.
class FileBytes {
 public:
  /// Throws Error that begins with `action` and names the file if it cannot be read or is damaged.
  FileBytes(const char* action, const std::filesystem::path& path);
  Bytes bytes() const { return unpacked_ ? std::as_bytes(std::span(content_)) : file_.bytes(); }

 private:
  io::MappedFile file_;
  bool unpacked_ = false;
  std::string content_;
};

}  // namespace cladtorch::data
