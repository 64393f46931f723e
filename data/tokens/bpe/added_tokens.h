// Tokens that are found in a text as they stand, before it is cut into words: <|endoftext|> and its like.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokens/bpe/normalizer.h"
#include "data/tokens/bpe/regex.h"

namespace cladtorch::data::bpe {

struct AddedToken {
  std::string content;
  int32_t number = 0;
  bool single_word = false;  ///< not inside a word
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< and after it
  bool normalized = false;   ///< looked for in the normalized text
  bool special = false;
};

/// Finds the longest of some strings that begins at a place of a text.
class StringTrie {
 public:
  void add(std::string_view text, int32_t value);
  bool empty() const { return nodes_.size() == 1; }

  struct Match {
    size_t bytes = 0;     ///< of the longest string that begins there, 0 where there is none
    int32_t value = -1;   ///< given to add()
    size_t followed = 0;  ///< bytes of the text that are the beginning of some string
  };
  Match longest(std::string_view text) const;
  /// The first place from `from` on at which a string may begin; text.size() where there is none.
  size_t next_start(std::string_view text, size_t from) const;
  size_t most_bytes() const { return most_bytes_; }

 private:
  struct Node {
    int32_t value = -1;
    std::vector<std::pair<unsigned char, uint32_t>> children;
  };
  uint32_t child(uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<bool, 256> starts_{};
  int only_start_ = -1;  // the one byte that all begin with; -1: there are several, or none
  size_t most_bytes_ = 0;
};

/// The "added_tokens" of a tokenizer.json.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// `json`: the list, or null. `normalizer` is applied to what is looked for in normalized text.
  AddedTokens(const nlohmann::json& json, const Normalizer& normalizer);

  const std::vector<AddedToken>& all() const { return tokens_; }
  bool empty() const { return tokens_.empty(); }
  bool any_normalized() const { return !normalized_.empty(); }

  /// Calls text(part, begin of the part) and token(number) for what `all` is made of, in order. `normalized`
  /// chooses which tokens are looked for.
  template <class Text, class Token>
  void split(std::string_view all, bool normalized, const Text& text, const Token& token) const {
    size_t done = 0;
    for (size_t at = 0; const std::optional<Found> found = find(all, done, at, normalized);) {
      if (found->begin > done) text(all.substr(done, found->begin - done), done);
      token(found->number);
      done = at = found->end;
    }
    if (done < all.size()) text(all.substr(done), done);
  }

  /// Whether no token of the raw text reaches over `place` or touches it.
  bool may_cut(std::string_view text, size_t place) const;

  /// What stands behind the last token of the raw text, [begin, end), up to where another one may begin that
  /// `text` does not finish.
  Range last_part(std::string_view text) const;

  nlohmann::json to_json() const;

 private:
  struct Found {
    size_t begin, end;
    int32_t number;
  };
  std::optional<Found> find(std::string_view text, size_t done, size_t from, bool normalized) const;

  std::vector<AddedToken> tokens_;
  StringTrie raw_, normalized_;
};

}  // namespace cladtorch::data::bpe
