// header (32 bytes) | tokens, zero-padded to a multiple of 8 bytes | starts of documents | bits of ignored
// tokens | footer (32 bytes; 16 in version 1, which has tokens alone); all numbers little-endian. What is
// only known at the end stands there, so a shard is written in one pass.
#include "cladtorch/data/shard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"
#include "data/tokens/token_marks.h"

namespace cladtorch::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "shards are mapped as they are, which is little-endian");

struct Header {
  std::array<char, 8> magic = {'c', 'l', 'a', 'd', 't', 'o', 'k', 's'};
  uint32_t version = 2;
  uint32_t width = 0;  // bytes per token: 2 or 4
  uint64_t vocabulary = 0;
  uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 32);

struct Footer {
  uint64_t documents = 0;
  uint64_t ignored_words = 0;
  uint64_t count = 0;  // the footer of version 1 begins here
  uint64_t checksum = 0;
};
static_assert(sizeof(Footer) == 32);

constexpr size_t footer_bytes(uint32_t version) { return version == 1 ? 16 : sizeof(Footer); }

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
  uint64_t value() const { return sum_ ^ sum_ >> 32; }

 private:
  uint64_t sum_ = 0;
};

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

using Bytes = std::span<const std::byte>;

/// The file as its numbers say it is laid out, before anything about them is believed.
struct Layout {
  Header header;
  Footer footer;
  uint64_t tokens_bytes = 0;

  explicit Layout(Bytes bytes) {
    std::memcpy(&header, bytes.data(), sizeof header);
    const size_t footer_size = footer_bytes(header.version);
    if (bytes.size() < sizeof header + footer_size) return;
    // A footer of version 1 has the same last two numbers and none before them.
    std::memcpy(reinterpret_cast<char*>(&footer) + sizeof footer - footer_size,
                bytes.data() + bytes.size() - footer_size, footer_size);
    tokens_bytes = padded(footer.count * header.width);
  }

  /// Whether the numbers add up to `size` bytes, without overflow.
  bool fits(uint64_t size) const {
    if (footer.count > size || footer.documents > size / 8 || footer.ignored_words > size / 8) return false;
    const bool all_bits = footer.ignored_words == 0 || footer.ignored_words == (footer.count + 63) / 64;
    return all_bits && sizeof header + tokens_bytes + 8 * (footer.documents + footer.ignored_words) +
                               footer_bytes(header.version) ==
                           size;
  }

  TokenSequence::Part part(Bytes bytes) const {
    const std::byte* const tokens = bytes.data() + sizeof header;
    const auto* const documents = reinterpret_cast<const uint64_t*>(tokens + tokens_bytes);
    TokenSequence::Part part;
    if (header.width == 2) {
      part.tokens = std::span(reinterpret_cast<const uint16_t*>(tokens), footer.count);
    } else {
      part.tokens = std::span(reinterpret_cast<const uint32_t*>(tokens), footer.count);
    }
    part.documents = {documents, footer.documents};
    part.ignored = {documents + footer.documents, footer.ignored_words};
    return part;
  }
};

bool ascend_below(std::span<const uint64_t> places, uint64_t end) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= end || (i > 0 && places[i] <= places[i - 1])) return false;
  }
  return true;
}

}  // namespace

TokenShard TokenShard::open(const std::filesystem::path& path) {
  const auto file = std::make_shared<const io::MappedFile>(path);
  const Bytes bytes = file->bytes();
  const auto bad = [&](const auto&... what) { fail("read shard '", path.string(), "': ", what...); };

  if (bytes.size() < 8 || std::memcmp(bytes.data(), Header().magic.data(), 8) != 0) {
    bad("not a token shard; make one with 'cladtorch data'");
  }
  if (bytes.size() < sizeof(Header) + footer_bytes(1)) {
    bad("truncated: ", bytes.size(), " bytes are less than an empty shard");
  }
  const Layout layout(bytes);
  const Header& header = layout.header;
  if (header.version != 1 && header.version != Header().version) {
    bad("version ", header.version, ", expected ", Header().version, "; prepare the text again");
  }
  if ((header.width != 2 && header.width != 4) || header.reserved != 0) bad("damaged header");
  if (!layout.fits(bytes.size())) {
    bad("truncated or damaged: ", bytes.size(), " bytes do not hold the ", layout.footer.count,
        " tokens it names");
  }
  Checksum checksum;
  checksum.add(bytes.data(), bytes.size() - sizeof(Footer::checksum));
  if (checksum.value() != layout.footer.checksum) bad("damaged: the checksum does not match");

  TokenShard shard;
  shard.mapping_ = file;
  shard.vocabulary_ = header.vocabulary;
  shard.part_ = layout.part(bytes);
  if (!ascend_below(shard.part_.documents, layout.footer.count)) bad("its documents are not in order");
  return shard;
}

struct ShardWriter::File {
  static constexpr size_t buffer_bytes = size_t{1} << 16;

  File(const std::filesystem::path& path, TokenWidth token_width) : file(path), width(token_width) {
    buffer.reserve(buffer_bytes);
  }

  void put(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const size_t part = std::min(bytes, buffer_bytes - buffer.size());
      buffer.insert(buffer.end(), from, from + part);
      if (buffer.size() == buffer_bytes) flush();
      from += part;
      bytes -= part;
    }
  }
  void put(const std::vector<uint64_t>& words) { put(words.data(), 8 * words.size()); }
  /// The buffer must hold whole words.
  void flush() {
    checksum.add(buffer.data(), buffer.size());
    file.write(buffer.data(), buffer.size());
    buffer.clear();
  }

  template <class Token>
  void put_tokens(std::span<const int32_t> tokens) {
    std::array<Token, 1024> narrow;
    for (size_t at = 0; at < tokens.size(); at += narrow.size()) {
      const size_t part = std::min(narrow.size(), tokens.size() - at);
      std::transform(tokens.begin() + static_cast<ptrdiff_t>(at),
                     tokens.begin() + static_cast<ptrdiff_t>(at + part), narrow.begin(),
                     [](int32_t token) { return static_cast<Token>(token); });
      put(narrow.data(), part * sizeof(Token));
    }
  }

  io::AtomicFile file;
  TokenWidth width;
  uint64_t count = 0;
  TokenMarks marks;
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

void ShardWriter::begin_document() { file_->marks.begin_document(file_->count); }

void ShardWriter::append(std::span<const int32_t> tokens, bool ignored) {
  const int64_t limit = file_->width == TokenWidth::u16 ? std::numeric_limits<uint16_t>::max()
                                                        : std::numeric_limits<int32_t>::max();
  for (int32_t token : tokens) {
    require(token >= 0 && token <= limit, "write shard: token ", token, " does not fit ",
            static_cast<int>(file_->width), " bytes");
  }
  if (file_->width == TokenWidth::u16) {
    file_->put_tokens<uint16_t>(tokens);
  } else {
    file_->put_tokens<uint32_t>(tokens);
  }
  file_->marks.append(file_->count, tokens.size(), ignored);
  file_->count += tokens.size();
}

uint64_t ShardWriter::count() const { return file_->count; }
uint64_t ShardWriter::documents() const { return file_->marks.documents().size(); }

void ShardWriter::finish() {
  file_->marks.finish(file_->count);
  const uint64_t zeros = 0;
  const uint64_t bytes = file_->count * static_cast<uint64_t>(file_->width);
  file_->put(&zeros, padded(bytes) - bytes);
  file_->put(file_->marks.documents());
  file_->put(file_->marks.ignored());
  Footer footer{documents(), file_->marks.ignored().size(), file_->count, 0};
  file_->put(&footer, sizeof footer - sizeof footer.checksum);
  file_->flush();
  footer.checksum = file_->checksum.value();
  file_->file.write(&footer.checksum, sizeof footer.checksum);
  file_->file.commit();
}

}  // namespace cladtorch::data
