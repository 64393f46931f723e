// The bytes of a file, decompressed on the way where its name says that it is compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace cladtorch::data {

class ByteSource {
 public:
  /// A file; through zlib where its name ends in .gz, through zstd where it ends in .zst. Throws Error when
  /// it cannot be read.
  static std::unique_ptr<ByteSource> open(const std::filesystem::path& path);
  virtual ~ByteSource() = default;

  /// Fills `out` with the next bytes; fewer than `size` only at the end. Throws Error naming the file when it
  /// is damaged or ends too early.
  virtual size_t read(char* out, size_t size) = 0;

  /// Bytes of the file on disk that were read so far.
  virtual uint64_t consumed() const = 0;
};

/// `path` without .gz or .zst.
std::filesystem::path without_compression(const std::filesystem::path& path);

}  // namespace cladtorch::data
