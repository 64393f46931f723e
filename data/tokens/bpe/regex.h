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

  /// Gives all matches in `text` to `visit`, from the left, none inside another and none empty. Bytes that
  /// are not UTF-8 match nothing. Throws Error where a match takes more steps or memory than is allowed.
  void for_each_match(std::string_view text, const std::function<void(Range)>& visit) const;

  /// The end of a match such that the matches before it are the same in `text`, in the text up to there, and
  /// in any text that goes on with `text`, and those behind it the same in the rest alone. 0 where none is
  /// found: expressions that look behind have none.
  size_t last_boundary(std::string_view text) const;

 private:
  /// Until there is no match any more, or, with `partial`, until one could depend on what follows `text`.
  void search(std::string_view text, bool partial, const std::function<void(Range)>& visit) const;

  std::string pattern_;
  std::shared_ptr<void> code_, limits_;
  bool looks_behind_ = false;
};

}  // namespace cladtorch::data::bpe
