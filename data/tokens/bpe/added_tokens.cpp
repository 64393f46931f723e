#include "data/tokens/bpe/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "cladtorch/quote.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/unicode.h"

namespace cladtorch::data::bpe {
namespace {

Character first_character(std::string_view text) {
  return character_at(bytes_of(text), bytes_of(text) + text.size(), kind_table());
}

/// The last character of a text that is not empty.
Character last_character(std::string_view text) {
  for (size_t bytes = 1; bytes <= std::min<size_t>(text.size(), 4); ++bytes) {
    const Character c = first_character(text.substr(text.size() - bytes));
    if (c.bytes == bytes && c.code_point != not_utf8) return c;
  }
  return {other, 1, not_utf8};
}

bool begins_inside_a_word(std::string_view text, size_t place) {
  return place > 0 && is_word_character(last_character(text.substr(0, place)).code_point);
}

bool ends_inside_a_word(std::string_view text, size_t place) {
  return place < text.size() && is_word_character(first_character(text.substr(place)).code_point);
}

size_t skip_spaces_back(std::string_view text, size_t place, size_t least) {
  while (place > least) {
    const Character c = last_character(text.substr(0, place));
    if (!is_space(c.kind)) break;
    place -= c.bytes;
  }
  return std::max(place, least);
}

size_t skip_spaces(std::string_view text, size_t place) {
  while (place < text.size()) {
    const Character c = first_character(text.substr(place));
    if (!is_space(c.kind)) break;
    place += c.bytes;
  }
  return place;
}

AddedToken read_token(const Json& json) {
  require(json.is_object(), "tokenizer: an entry of 'added_tokens' is ", shown(json), ", expected an object");
  AddedToken token;
  token.content = field<std::string>(json, "content");
  const int64_t number = field<int64_t>(json, "id");
  require(!token.content.empty(), "tokenizer: the added token with number ", number, " is empty");
  require(number >= 0 && number <= INT32_MAX, "tokenizer: the added token ", in_quotes(token.content),
          " has the number ", number);
  token.number = static_cast<int32_t>(number);
  token.single_word = field_or(json, "single_word", false);
  token.lstrip = field_or(json, "lstrip", false);
  token.rstrip = field_or(json, "rstrip", false);
  token.special = field_or(json, "special", false);
  token.normalized = field_or(json, "normalized", !token.special);
  return token;
}

}  // namespace

void StringTrie::add(std::string_view text, int32_t value) {
  uint32_t node = 0;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
      nodes_[node].children.emplace_back(byte, next);
    }
    node = next;
  }
  nodes_[node].value = value;
  starts_[static_cast<unsigned char>(text[0])] = true;
  most_bytes_ = std::max(most_bytes_, text.size());
  only_start_ = nodes_[0].children.size() == 1 ? nodes_[0].children[0].first : -1;
}

uint32_t StringTrie::child(uint32_t node, unsigned char byte) const {
  for (const auto& [label, next] : nodes_[node].children) {
    if (label == byte) return next;
  }
  return 0;
}

StringTrie::Match StringTrie::longest(std::string_view text) const {
  Match match;
  uint32_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    node = child(node, static_cast<unsigned char>(text[i]));
    if (node == 0) break;
    match.followed = i + 1;
    if (nodes_[node].value >= 0) {
      match.bytes = i + 1;
      match.value = nodes_[node].value;
    }
  }
  return match;
}

size_t StringTrie::next_start(std::string_view text, size_t from) const {
  if (empty() || from >= text.size()) return text.size();
  if (only_start_ >= 0) {
    const void* found = std::memchr(text.data() + from, only_start_, text.size() - from);
    return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : text.size();
  }
  while (from < text.size() && !starts_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

AddedTokens::AddedTokens(const Json& json, const Normalizer& normalizer) {
  if (json.is_null()) return;
  require(json.is_array(), "tokenizer: 'added_tokens' is ", shown(json), ", expected a list");
  for (const Json& entry : json) {
    const AddedToken token = read_token(entry);
    const auto index = static_cast<int32_t>(tokens_.size());
    const std::string content =
        token.normalized ? normalizer.apply(token.content, Place::text) : token.content;
    require(!content.empty(), "tokenizer: the added token ", in_quotes(token.content),
            " is empty when it is normalized");
    (token.normalized ? normalized_ : raw_).add(content, index);
    tokens_.push_back(token);
  }
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, size_t done, size_t from,
                                                    bool normalized) const {
  const StringTrie& trie = normalized ? normalized_ : raw_;
  for (size_t at = trie.next_start(text, from); at < text.size(); at = trie.next_start(text, at)) {
    const StringTrie::Match match = trie.longest(text.substr(at));
    if (match.bytes == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(match.value)];
    size_t begin = at, end = at + match.bytes;
    if (token.single_word && (begins_inside_a_word(text, begin) || ends_inside_a_word(text, end))) {
      at = end;
      continue;
    }
    if (token.lstrip) begin = skip_spaces_back(text, begin, done);
    if (token.rstrip) end = skip_spaces(text, end);
    return Found{begin, end, token.number};
  }
  return std::nullopt;
}

bool AddedTokens::may_cut(std::string_view text, size_t place) const {
  for (const StringTrie* trie : {&raw_, &normalized_}) {
    const size_t first = place - std::min(place, trie->most_bytes());
    for (size_t at = trie->next_start(text, first); at <= place && at < text.size();
         at = trie->next_start(text, at + 1)) {
      const StringTrie::Match match = trie->longest(text.substr(at));
      if (at < place ? at + match.followed >= place : match.followed > 0) return false;
    }
  }
  return true;
}

Range AddedTokens::last_part(std::string_view text) const {
  Range part{0, text.size()};
  for (const bool normalized : {false, true}) {
    const size_t first = part.begin;
    part.begin = text.size();
    split(
        text.substr(first), normalized,
        [&](std::string_view piece, size_t begin) {
          if (first + begin + piece.size() == text.size()) part.begin = first + begin;
        },
        [](int32_t) {});
  }
  for (const StringTrie* trie : {&raw_, &normalized_}) {
    for (size_t at = trie->next_start(text, part.begin); at < part.end; at = trie->next_start(text, at + 1)) {
      if (at + trie->longest(text.substr(at)).followed == text.size()) part.end = at;
    }
  }
  // White space that such a token would take; beyond ASCII any character may be some.
  const bool strips = std::ranges::any_of(tokens_, &AddedToken::lstrip);
  const auto may_be_space = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || (c & 0x80) != 0; };
  while (strips && part.end > part.begin && may_be_space(text[part.end - 1])) --part.end;
  return part;
}

Json AddedTokens::to_json() const {
  Json list = Json::array();
  for (const AddedToken& token : tokens_) {
    list.push_back({{"id", token.number},
                    {"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.lstrip},
                    {"rstrip", token.rstrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list;
}

}  // namespace cladtorch::data::bpe
