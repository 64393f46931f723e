// header (32 bytes) | tokens, zero-padded to a multiple of 8 bytes | footer (16 bytes); all numbers
// little-endian. Count and checksum stand at the end, so a shard is written in one pass.
#include "cladtorch/data/shard.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"

namespace cladtorch::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "shards are mapped as they are, which is little-endian");

struct Header {
  std::array<char, 8> magic = {'c', 'l', 'a', 'd', 't', 'o', 'k', 's'};
  uint32_t version = 1;
  uint32_t width = 0;  // bytes per token: 2 or 4
  uint64_t vocabulary = 0;
  uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 32);

struct Footer {
  uint64_t count = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(Footer) == 16);

/// Order matters and every step is a bijection of the sum so far, so any change of one word changes the
/// result.
class Checksum {
 public:
  /// `bytes` must be a multiple of 8.
  void add(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    for (size_t at = 0; at < bytes; at += 8) {
      uint64_t word;
      std::memcpy(&word, from + at, 8);
      sum_ = (std::rotl(sum_, 29) ^ word) * 0x9e3779b97f4a7c15u;
    }
  }
  /// Of all words and then `count`.
  uint64_t finish(uint64_t count) {
    add(&count, 8);
    return sum_ ^ sum_ >> 32;
  }

 private:
  uint64_t sum_ = 0;
};

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

TokenShard TokenShard::open(const std::filesystem::path& path) {
  const auto file = std::make_shared<const io::MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  const auto bad = [&](const auto&... what) { fail("read shard '", path.string(), "': ", what...); };

  Header header;
  if (bytes.size() < 8 || std::memcmp(bytes.data(), header.magic.data(), 8) != 0) {
    bad("not a token shard; make one with 'cladtorch data'");
  }
  if (bytes.size() < sizeof(Header) + sizeof(Footer)) {
    bad("truncated: ", bytes.size(), " bytes are less than an empty shard");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != Header().version) {
    bad("version ", header.version, ", expected ", Header().version, "; prepare the text again");
  }
  if ((header.width != 2 && header.width != 4) || header.reserved != 0) bad("damaged header");
  Footer footer;
  const size_t body = bytes.size() - sizeof footer;
  std::memcpy(&footer, bytes.data() + body, sizeof footer);
  if (footer.count > bytes.size() || sizeof header + padded(footer.count * header.width) != body) {
    bad("truncated or damaged: ", bytes.size(), " bytes do not hold the ", footer.count, " tokens it names");
  }
  Checksum checksum;
  checksum.add(bytes.data(), body);
  if (checksum.finish(footer.count) != footer.checksum) bad("damaged: the checksum does not match");

  TokenShard shard;
  shard.mapping_ = file;
  shard.vocabulary_ = header.vocabulary;
  const std::byte* tokens = bytes.data() + sizeof header;
  if (header.width == 2) {
    shard.tokens_ = std::span(reinterpret_cast<const uint16_t*>(tokens), footer.count);
  } else {
    shard.tokens_ = std::span(reinterpret_cast<const uint32_t*>(tokens), footer.count);
  }
  return shard;
}

struct ShardWriter::File {
  static constexpr size_t buffer_bytes = size_t{1} << 16;

  File(const std::filesystem::path& path, TokenWidth token_width) : file(path), width(token_width) {
    buffer.reserve(buffer_bytes);
  }

  void put(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    buffer.insert(buffer.end(), from, from + bytes);
    if (buffer.size() == buffer_bytes) flush();
  }
  void flush() {
    checksum.add(buffer.data(), buffer.size());
    file.write(buffer.data(), buffer.size());
    buffer.clear();
  }

  io::AtomicFile file;
  TokenWidth width;
  uint64_t count = 0;
  Checksum checksum;
  std::vector<char> buffer;
};

ShardWriter::ShardWriter(const std::filesystem::path& path, TokenWidth width, uint64_t vocabulary)
    : file_(std::make_unique<File>(path, width)) {
  Header header;
  header.width = static_cast<uint32_t>(width);
  header.vocabulary = vocabulary;
  file_->put(&header, sizeof header);
}

ShardWriter::~ShardWriter() = default;

void ShardWriter::append(std::span<const int32_t> tokens) {
  const int64_t limit = file_->width == TokenWidth::u16 ? std::numeric_limits<uint16_t>::max()
                                                        : std::numeric_limits<int32_t>::max();
  for (int32_t token : tokens) {
    require(token >= 0 && token <= limit, "write shard: token ", token, " does not fit ",
            static_cast<int>(file_->width), " bytes");
    file_->put(&token, static_cast<size_t>(file_->width));
  }
  file_->count += tokens.size();
}

uint64_t ShardWriter::count() const { return file_->count; }

void ShardWriter::finish() {
  while (file_->buffer.size() % 8 != 0) file_->buffer.push_back('\0');
  file_->flush();
  const Footer footer{file_->count, file_->checksum.finish(file_->count)};
  file_->file.write(&footer, sizeof footer);
  file_->file.commit();
}

}  // namespace cladtorch::data
