#include "data/hellaswag/prompt.h"

#include <utf8proc.h>

#include "data/text/utf8.h"

namespace cladtorch::data::hellaswag {
namespace {

/// Python's str.isspace().
bool is_space(char32_t c) {
  if ((c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f) || c == 0x85) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::string_view stripped(std::string_view text) {
  size_t begin = 0, end = 0;  // of what stays: up to the last character that is no space
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded c = utf8::decode_first(text.substr(at));
    const bool space = c.bytes > 0 && is_space(c.code_point);
    at += c.bytes > 0 ? c.bytes : 1;
    if (!space) end = at;
    if (space && end == 0) begin = at;
  }
  return end == 0 ? std::string_view() : text.substr(begin, end - begin);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (size_t at = 0;;) {
    const size_t found = text.find(from, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) return result;
    result += to;
    at = found + from.size();
  }
}

std::string without_brackets(std::string_view text) {
  std::string result;
  for (size_t at = 0;;) {
    const size_t open = text.find('[', at), end = text.find_first_of("]\n", open);
    if (end == std::string_view::npos) return result.append(text.substr(at));
    const bool closes = text[end] == ']';
    result += text.substr(at, (closes ? open : end) - at);  // no mark goes over a line end
    at = closes ? end + 1 : end;
  }
}

}  // namespace

std::string cleaned(std::string_view text) {
  return replaced(without_brackets(replaced(stripped(text), " [title]", ". ")), "  ", " ");
}

std::string capitalized(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded c = utf8::decode_first(text.substr(at));
    const auto code_point = static_cast<utf8proc_int32_t>(c.code_point);
    if (c.bytes == 0) {
      result += text[at++];
      continue;
    }
    const utf8proc_int32_t other = at == 0 ? utf8proc_totitle(code_point) : utf8proc_tolower(code_point);
    result += utf8::encode(static_cast<char32_t>(other));
    at += c.bytes;
  }
  return result;
}

}  // namespace cladtorch::data::hellaswag
