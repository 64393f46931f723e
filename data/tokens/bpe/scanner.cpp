#include "data/tokens/bpe/scanner.h"

#include <utility>

#include "data/tokens/bpe/unicode.h"

namespace cladtorch::data::bpe {
namespace {

using Byte = uint8_t;

/// A place in a text, with the questions that both patterns ask.
class Reader {
 public:
  explicit Reader(std::string_view text)
      : kinds_(kind_table()), begin_(bytes_of(text)), end_(begin_ + text.size()) {}

  const Byte* begin() const { return begin_; }
  const Byte* end() const { return end_; }
  size_t length(const Byte* to) const { return static_cast<size_t>(to - begin_); }
  Character at(const Byte* place) const { return character_at(place, end_, kinds_); }

  /// The end of the run of characters of `kind` from `place` on.
  const Byte* skip(const Byte* place, Kind kind) const {
    while (place != end_) {
      const Character c = at(place);
      if (c.kind != kind) break;
      place += c.bytes;
    }
    return place;
  }

  const Byte* skip_line_ends(const Byte* place) const {
    while (place != end_ && (*place == '\n' || *place == '\r')) ++place;
    return place;
  }

  struct Spaces {
    const Byte* end;
    const Byte* last;            ///< where the last of them begins
    const Byte* after_line_end;  ///< behind the last \r or \n among them, null without one
  };
  Spaces spaces(const Byte* place) const {
    Spaces found{place, place, nullptr};
    while (found.end != end_) {
      const Character c = at(found.end);
      if (!is_space(c.kind)) break;
      found.last = found.end;
      found.end += c.bytes;
      if (c.kind == line_end) found.after_line_end = found.end;
    }
    return found;
  }

  /// \s+(?!\S)|\s+: all white space but the last character of it, which the next word may want.
  const Byte* skip_spaces(const Spaces& found) const {
    return found.end == end_ || found.last == begin_ ? found.end : found.last;
  }

 private:
  const Byte* kinds_;
  const Byte* begin_;
  const Byte* end_;
};

/// Bytes of 's, 't, 're, 've, 'm, 'll or 'd at the beginning of a text, 0 without. With `any_case` an
/// s may also be the long one, as Unicode folds it.
size_t contraction(const Reader& text, bool any_case) {
  const Byte* at = text.begin();
  if (*at != '\'' || text.end() - at < 2) return 0;
  const auto lower = [&](int i) -> int {
    const int c = at[i];
    return any_case && c >= 'A' && c <= 'Z' ? c + 32 : c;
  };
  switch (lower(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return text.end() - at >= 3 && lower(2) == 'e' ? 3 : 0;
    case 'l':
      return text.end() - at >= 3 && lower(2) == 'l' ? 3 : 0;
    case 0xc5:
      return any_case && text.end() - at >= 3 && at[2] == 0xbf ? 3 : 0;
    default:
      return 0;
  }
}

size_t gpt2_piece(const Reader& text) {
  if (const size_t bytes = contraction(text, false)) return bytes;
  const Byte* place = text.begin();
  Character c = text.at(place);
  if (*place == ' ' && place + 1 != text.end()) {
    const Character next = text.at(place + 1);
    if (!is_space(next.kind)) {
      ++place;
      c = next;
    }
  }
  if (is_space(c.kind)) return text.length(text.skip_spaces(text.spaces(place)));
  return text.length(text.skip(place + c.bytes, c.kind));
}

size_t gpt4_piece(const Reader& text, size_t most_digits) {
  if (const size_t bytes = contraction(text, true)) return bytes;
  const Byte* place = text.begin();
  const Character c = text.at(place);
  const Byte* behind = place + c.bytes;
  if (c.kind == letter) return text.length(text.skip(behind, letter));
  if (c.kind == number) {
    for (size_t digits = 1; digits < most_digits && behind != text.end(); ++digits) {
      const Character next = text.at(behind);
      if (next.kind != number) break;
      behind += next.bytes;
    }
    return text.length(behind);
  }
  const Kind next = behind == text.end() ? line_end : text.at(behind).kind;
  if (c.kind != line_end && next == letter) return text.length(text.skip(behind, letter));
  if (c.kind == other || (*place == ' ' && behind != text.end() && next == other)) {
    return text.length(text.skip_line_ends(text.skip(behind, other)));
  }
  const Reader::Spaces spaces = text.spaces(place);
  return text.length(spaces.after_line_end ? spaces.after_line_end : text.skip_spaces(spaces));
}

}  // namespace

size_t Scanner::first_piece(std::string_view text) const {
  const Reader reader(text);
  return family == Family::gpt2 ? gpt2_piece(reader) : gpt4_piece(reader, most_digits);
}

size_t Scanner::last_boundary(std::string_view text) const {
  // A space never goes on what stands before it, whatever that is, and white space before something else is
  // cut differently when it ends the text: so the place before a space that follows no white space. Only
  // ASCII is looked at: what may be a part of a white space does not count as a place.
  const auto plain = [&](size_t i) {
    const Byte c = static_cast<Byte>(text[i]);
    return c > 0x20 && c < 0x7f;
  };
  // After the last character of a text (it may grow) there is no boundary.
  for (size_t at = text.size(); at-- > 1;) {
    if (text[at] == ' ' && plain(at - 1)) return at;
    // GPT-4's pattern ends a piece at the last line end of white space.
    if (family == Family::gpt4 && text[at - 1] == '\n') {
      const Reader rest(text.substr(at));
      const Character next = rest.at(rest.begin());
      if (!is_space(next.kind) && next.code_point != not_utf8) return at;
    }
    // Letters of other scripts before a space.
    if (text[at] == ' ' && static_cast<Byte>(text[at - 1]) >= 0x80) {
      size_t first = at - 1;
      while (first > 0 && at - first < 4 && (static_cast<Byte>(text[first]) & 0xc0) == 0x80) --first;
      const Reader last(text.substr(first));
      const Character c = last.at(last.begin());
      if (c.bytes == at - first && c.bytes > 1 && !is_space(c.kind)) return at;
    }
  }
  return 0;
}

std::optional<Scanner> scanner_for(std::string_view pattern) {
  using Family = Scanner::Family;
  static const std::pair<std::string_view, Scanner> known[] = {
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", {Family::gpt2, 0}},
      {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", {Family::gpt2, 0}},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
       R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
       {Family::gpt4, 3}},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
       R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
       {Family::gpt4, 1}},
  };
  for (const auto& [text, scanner] : known) {
    if (text == pattern) return scanner;
  }
  return std::nullopt;
}

}  // namespace cladtorch::data::bpe
