#include "data/tokens/bpe/unicode.h"

#include <utf8proc.h>

#include <vector>

namespace cladtorch::data::bpe {
namespace {

Kind kind_of(char32_t c) {
  if (c == '\r' || c == '\n') return line_end;
  if ((c >= 0x09 && c <= 0x0c) || c == 0x85) return space;  // white space, though in category Cc
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return space;
    default:
      return other;
  }
}

}  // namespace

const uint8_t* kind_table() {
  // A flat megabyte, made in a few milliseconds: a text touches few pages of it.
  static const std::vector<uint8_t> kinds = [] {
    std::vector<uint8_t> table(0x110000);
    for (char32_t c = 0; c < table.size(); ++c) table[c] = kind_of(c);
    return table;
  }();
  return kinds.data();
}

bool is_word_character(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return c == 0x200c || c == 0x200d;
  }
}

}  // namespace cladtorch::data::bpe
