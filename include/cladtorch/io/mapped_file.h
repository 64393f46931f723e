// Read-only memory maps.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace cladtorch::io {

/// A whole file mapped read-only; the pages stay valid as long as the object lives, even if the file is
/// replaced.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cladtorch::io
