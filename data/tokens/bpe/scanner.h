// The split patterns of GPT-2 and of GPT-4 and Llama 3, as hand-written scanners: a regular expression engine
// spends more time on a text than all that follows.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cladtorch::data::bpe {

/// One of the known patterns.
struct Scanner {
  enum class Family {
    gpt2,  ///< 's|'t|...| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
    gpt4   ///< (?i:'s|...)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|...
  };
  Family family = Family::gpt2;
  size_t most_digits = 3;  ///< n of the second

  bool operator==(const Scanner&) const = default;

  /// Bytes of the first piece of `text`, which must not be empty. The pieces of a text, one after the other,
  /// are all of it.
  size_t first_piece(std::string_view text) const;

  /// The last place of `text` where a piece ends whatever follows `text`, and which leaves the pieces before
  /// it as they are; 0 where there is none.
  size_t last_boundary(std::string_view text) const;
};

/// The scanner that splits exactly as the regular expression `pattern` does, if there is one.
std::optional<Scanner> scanner_for(std::string_view pattern);

}  // namespace cladtorch::data::bpe
