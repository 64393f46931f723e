// ZIP archives with ZIP64, as far as NumPy writes and reads them.
// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"
#include "data/tensors/bytes.h"

namespace cladtorch::data {

struct ZipMember {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed_size = 0, size = 0, offset = 0;
};

/// Throws Error that begins with `action` and names the file if it is damaged or of another kind.
class ZipReader {
 public:
  ZipReader(const char* action, const std::filesystem::path& path);

  const std::vector<ZipMember>& members() const { return members_; }
  /// The content of a member, in the file or in `unpacked`.
  Bytes read(const ZipMember& member, std::string& unpacked) const;

 private:
  ZipMember parse_member(Bytes& directory) const;
  Bytes part(uint64_t offset, uint64_t size) const;
  [[noreturn]] void fail_as(const std::string& problem) const;

  std::string name_;
  io::MappedFile file_;
  std::vector<ZipMember> members_;
};

/// Every member and the directory have the records of ZIP64, so that sizes have no limit.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  /// A member that consists of the parts.
  void add(const std::string& name, std::initializer_list<std::string_view> parts, bool compressed);
  /// Call it once, as the last function.
  void commit();

 private:
  void write(std::string_view bytes);

  io::AtomicFile file_;
  uint64_t written_ = 0, members_ = 0;
  std::string directory_;
};

}  // namespace cladtorch::data
