#include "cladtorch/quote.h"

namespace cladtorch {
namespace {

std::string hexadecimal(unsigned byte) {
  constexpr char digits[] = "0123456789abcdef";
  return {digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

std::string shortened(std::string_view text, size_t most) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool inside_character = (byte & 0xc0) == 0x80 && shown.size() < most + 4;
    if (shown.size() >= most && !inside_character) return shown + "...";
    if (byte == '\n') {
      shown += "\\n";
    } else if (byte == '\t') {
      shown += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      shown += "\\x" + hexadecimal(byte);
    } else if (byte == 0xc2 && next >= 0x80 &&
               next < 0xa0) {  // U+0080 to U+009F move a terminal's cursor too
      shown += "\\u00" + hexadecimal(next);
      ++i;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string in_quotes(std::string_view text) { return "'" + shortened(text) + "'"; }

}  // namespace cladtorch
