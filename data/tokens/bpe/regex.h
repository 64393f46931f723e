// Regular expressions as tokenizer.json holds them, run by PCRE2.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::data::bpe {

/// A part of a text: [begin, end).
struct Range {
  size_t begin = 0, end = 0;
};

/// An expression in the syntax of Oniguruma, which Hugging Face's tokenizers use: ^ and $ are ends of lines,
/// classes are Unicode's. Immutable; may be shared by threads.
class Regex {
 public:
  /// Throws Error with what PCRE2 says against `pattern`.
  explicit Regex(const std::string& pattern);

  /// All matches in `text`, from the left, none inside another. Bytes that are not UTF-8 match nothing.
  /// Throws Error where a match takes more steps than PCRE2 allows.
  std::vector<Range> matches(std::string_view text) const;

 private:
  std::string pattern_;
  std::shared_ptr<void> code_;
};

}  // namespace cladtorch::data::bpe
