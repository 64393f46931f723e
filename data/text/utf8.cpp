#include "data/text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cladtorch::data::utf8 {

size_t ascii_prefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t word; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return at;
}

Decoded decode_first_long(std::string_view text) {
  if (text.empty()) return {0, 0, true};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return {};
  char32_t code_point = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {0, 0, true};
    // The second byte is narrower after four first bytes: E0 and F0 (overlong), ED (surrogates), F4 (too
    // large).
    const unsigned low = i == 1 && first == 0xe0 ? 0xa0 : i == 1 && first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = i == 1 && first == 0xed ? 0x9f : i == 1 && first == 0xf4 ? 0x8f : 0xbf;
    if (byte(i) < low || byte(i) > high) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fu);
  }
  return {code_point, length, false};
}

bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const Decoded first = decode_first(text);
    if (first.bytes == 0) return false;
    text.remove_prefix(first.bytes);
  }
  return true;
}

std::string replace_invalid(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = decode_first(text).bytes;
    result += bytes > 0 ? text.substr(0, bytes) : "\ufffd";
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

size_t unfinished_tail(std::string_view text) {
  for (size_t tail = 1; tail <= std::min<size_t>(3, text.size()); ++tail) {
    if (decode_first(text.substr(text.size() - tail)).truncated) return tail;
  }
  return 0;
}

std::string encode(char32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

std::string describe(char32_t code_point) {
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(code_point));
  const bool printable =
      code_point >= 0x20 && code_point != 0x7f && !(code_point >= 0x80 && code_point < 0xa0);
  return printable ? "'" + encode(code_point) + "' (" + number + ")" : number;
}

}  // namespace cladtorch::data::utf8
