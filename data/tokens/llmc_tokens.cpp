#include "cladtorch/data/llmc_tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"

namespace cladtorch::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the tokens are mapped as they are, little-endian");

using Header = std::array<int32_t, 256>;  // magic, version, number of tokens, zeros

struct Kind {
  TokenWidth width;
  int32_t magic, version;
};
constexpr Kind kinds[] = {{TokenWidth::u16, 20240520, 1}, {TokenWidth::u32, 20240801, 7}};

const Kind* kind_of(int32_t magic) {
  const auto found = std::ranges::find(kinds, magic, &Kind::magic);
  return found == std::end(kinds) ? nullptr : found;
}

template <class Token>
std::span<const Token> tokens_after_header(std::span<const std::byte> bytes, size_t count) {
  return {reinterpret_cast<const Token*>(bytes.data() + sizeof(Header)), count};
}

}  // namespace

LlmcTokens LlmcTokens::open(const std::filesystem::path& path) {
  const auto file = std::make_shared<const io::MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  const auto bad = [&](const auto&... what) { fail("read '", path.string(), "': ", what...); };
  Header header{};
  if (!bytes.empty()) std::memcpy(header.data(), bytes.data(), std::min(bytes.size(), sizeof header));
  const Kind* kind = kind_of(header[0]);
  if (kind == nullptr) bad("not a token file of llm.c");
  if (header[1] != kind->version) bad("version ", header[1], ", expected ", kind->version);
  const auto width = static_cast<size_t>(kind->width);
  if (header[2] < 0 || bytes.size() != sizeof header + static_cast<size_t>(header[2]) * width) {
    bad("its header names ", header[2], " tokens of ", width, " bytes, but the file has ", bytes.size(),
        " bytes; was it cut off?");
  }
  LlmcTokens result;
  result.mapping_ = file;
  const auto count = static_cast<size_t>(header[2]);
  if (kind->width == TokenWidth::u16) {
    result.tokens_ = tokens_after_header<uint16_t>(bytes, count);
  } else {
    const auto tokens = tokens_after_header<uint32_t>(bytes, count);
    if (std::ranges::any_of(tokens, [](uint32_t token) { return token > 0x7fffffffu; })) {
      bad("a token is larger than ", 0x7fffffff);
    }
    result.tokens_ = tokens;
  }
  return result;
}

bool LlmcTokens::is_one(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  int32_t magic = 0;
  std::ifstream file(path, std::ios::binary);
  return file.read(reinterpret_cast<char*>(&magic), sizeof magic) && kind_of(magic) != nullptr;
}

void write_llmc_tokens(const std::filesystem::path& path, const TokenSequence& tokens, TokenWidth width) {
  const Kind& kind = *std::ranges::find(kinds, width, &Kind::width);
  const size_t count = tokens.size();
  require(count <= static_cast<size_t>(std::numeric_limits<int32_t>::max()), "write '", path.string(),
          "': ", count, " tokens are more than llm.c counts; write several files");
  const Header header{kind.magic, kind.version, static_cast<int32_t>(count)};
  io::AtomicFile file(path);
  file.write(header.data(), sizeof header);
  std::vector<int32_t> wide(size_t{1} << 16);
  std::vector<uint16_t> narrow(wide.size());
  for (size_t at = 0; at < count; at += wide.size()) {
    const auto piece = std::span(wide).first(std::min(wide.size(), count - at));
    tokens.copy(at, piece);
    if (width == TokenWidth::u32) {
      file.write(piece.data(), piece.size_bytes());
      continue;
    }
    for (size_t i = 0; i < piece.size(); ++i) {
      require(piece[i] < 65536, "write '", path.string(), "': token ", piece[i], " does not fit 2 bytes");
      narrow[i] = static_cast<uint16_t>(piece[i]);
    }
    file.write(narrow.data(), piece.size() * sizeof(uint16_t));
  }
  file.commit();
}

}  // namespace cladtorch::data
