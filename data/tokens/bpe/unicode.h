// What the split patterns of tokenizers ask of a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cladtorch::data::bpe {

/// The kinds of characters that the patterns tell apart: \p{L}, \p{N}, \s without and with [\r\n], the rest.
enum Kind : uint8_t { other = 0, letter = 1, number = 2, space = 3, line_end = 4 };

constexpr bool is_space(Kind kind) { return kind >= space; }

/// The kind of every code point below 0x110000, by utf8proc's version of Unicode.
const uint8_t* kind_table();

/// The code point of a byte that is no character.
inline constexpr char32_t not_utf8 = 0xffffffffu;

struct Character {
  Kind kind = other;
  uint8_t bytes = 1;
  char32_t code_point = 0;
};

/// The character at `at`, which must be before `end`. A byte that is not UTF-8 is a character of kind other,
/// as U+FFFD would be.
inline Character character_at(const uint8_t* at, const uint8_t* end, const uint8_t* kinds) {
  const uint32_t first = *at;
  if (first < 0x80) return {static_cast<Kind>(kinds[first]), 1, first};
  const auto tail = [&](int i) -> uint32_t { return at[i] ^ 0x80u; };  // above 0x3f: no continuation
  char32_t c = not_utf8;
  uint8_t bytes = 1;
  if (first < 0xe0) {
    if (first >= 0xc2 && end - at >= 2 && tail(1) < 0x40) {
      c = (first & 0x1f) << 6 | tail(1);
      bytes = 2;
    }
  } else if (first < 0xf0) {
    if (end - at >= 3 && tail(1) < 0x40 && tail(2) < 0x40) {
      const char32_t value = (first & 0x0f) << 12 | tail(1) << 6 | tail(2);
      if (value >= 0x800 && (value < 0xd800 || value >= 0xe000)) c = value, bytes = 3;
    }
  } else if (first < 0xf5 && end - at >= 4 && tail(1) < 0x40 && tail(2) < 0x40 && tail(3) < 0x40) {
    const char32_t value = (first & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    if (value >= 0x10000 && value < 0x110000) c = value, bytes = 4;
  }
  return bytes == 1 ? Character{other, 1, c} : Character{static_cast<Kind>(kinds[c]), bytes, c};
}

/// Whether `code_point` is one that a regular expression's \w matches, as good as its category tells.
bool is_word_character(char32_t code_point);

inline const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace cladtorch::data::bpe
