#include "data/tokens/bpe/byte_alphabet.h"

#include "data/text/utf8.h"

namespace cladtorch::data::bpe {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/// The byte of each character below 0x144, -1 for the others.
const std::array<int, 0x144>& bytes_of_characters() {
  static const std::array<int, 0x144> bytes = [] {
    std::array<int, 0x144> table{};
    table.fill(-1);
    for (unsigned byte = 0; byte < 256; ++byte) table[byte_alphabet()[byte]] = static_cast<int>(byte);
    return table;
  }();
  return bytes;
}

}  // namespace

const std::array<char32_t, 256>& byte_alphabet() {
  static const std::array<char32_t, 256> alphabet = [] {
    std::array<char32_t, 256> table{};
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) table[byte] = stands_for_itself(byte) ? byte : next++;
    return table;
  }();
  return alphabet;
}

std::string to_alphabet(std::string_view bytes) {
  std::string characters;
  for (char byte : bytes) characters += utf8::encode(byte_alphabet()[static_cast<unsigned char>(byte)]);
  return characters;
}

std::optional<std::string> from_alphabet(std::string_view characters) {
  std::string bytes;
  while (!characters.empty()) {
    const utf8::Decoded next = utf8::decode_first(characters);
    if (next.bytes == 0 || next.code_point >= bytes_of_characters().size()) return std::nullopt;
    const int byte = bytes_of_characters()[next.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    characters.remove_prefix(next.bytes);
  }
  return bytes;
}

}  // namespace cladtorch::data::bpe
