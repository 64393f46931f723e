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

Decoded decode_first(std::string_view text);

/// Whether `text` consists of whole characters.
bool is_valid(std::string_view text);

/// `text` with U+FFFD in the place of each byte that is part of no character.
std::string replace_invalid(std::string_view text);

/// `code_point` must be a Unicode scalar value.
std::string encode(char32_t code_point);

/// Not a surrogate and not beyond U+10FFFF.
constexpr bool is_scalar(char32_t c) { return c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff); }

/// "'é' (U+00E9)" for messages; control characters are shown by number only.
std::string describe(char32_t code_point);

}  // namespace cladtorch::data::utf8
