// The characters that occur in a text, gathered piece by piece.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cladtorch/error.h"
#include "data/text/utf8.h"

namespace cladtorch::data {

class CharacterSet {
 public:
  /// `text` must be whole characters of UTF-8.
  void add(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++count_) {
      const utf8::Decoded next = utf8::decode_first(text.substr(at));
      require(next.bytes > 0, "tokenizer: the text is not UTF-8 at byte ", at);
      seen_[next.code_point] = true;
      at += next.bytes;
    }
  }

  void add(char32_t character) { seen_[character] = true; }

  /// Characters added so far, repeats included.
  uint64_t count() const { return count_; }

  /// Each once, ascending.
  std::vector<char32_t> code_points() const {
    std::vector<char32_t> result;
    for (char32_t c = 0; c < seen_.size(); ++c) {
      if (seen_[c]) result.push_back(c);
    }
    return result;
  }

 private:
  std::vector<bool> seen_ = std::vector<bool>(0x110000);  // one bit per code point: 136 KB
  uint64_t count_ = 0;
};

}  // namespace cladtorch::data
