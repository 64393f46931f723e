// UTF-8 as the Unicode standard defines it (table 3-7): shortest forms only, no surrogates, at most U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cladtorch::data::utf8 {

/// One character at the start of a text.
struct Decoded {
  char32_t code_point = 0;
  size_t bytes = 0;        // 0: the text does not begin with a character
  bool truncated = false;  // with bytes == 0: more bytes could still make it one
};

/// The same for a text that does not begin with ASCII.
Decoded decode_first_long(std::string_view text);

inline Decoded decode_first(std::string_view text) {
  if (!text.empty() && static_cast<unsigned char>(text[0]) < 0x80) {
    return {static_cast<unsigned char>(text[0]), 1, false};
  }
  return decode_first_long(text);
}

/// Bytes at the start of `text` that are ASCII, or fewer.
size_t ascii_prefix(std::string_view text);

/// Whether `text` consists of whole characters.
bool is_valid(std::string_view text);

/// `text` with U+FFFD in the place of each byte that is part of no character.
std::string replace_invalid(std::string_view text);

/// Bytes at the end of `text` that begin a character which more bytes could finish: 0 to 3.
size_t unfinished_tail(std::string_view text);

/// `code_point` must be a Unicode scalar value.
std::string encode(char32_t code_point);

/// Not a surrogate and not beyond U+10FFFF.
constexpr bool is_scalar(char32_t c) { return c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff); }

/// "'é' (U+00E9)" for messages; control characters are shown by number only.
std::string describe(char32_t code_point);

}  // namespace cladtorch::data::utf8
