#include "data/tokens/bpe/model.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "cladtorch/quote.h"
#include "data/text/utf8.h"
#include "data/tokens/bpe/byte_alphabet.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/word_cache.h"

namespace cladtorch::data::bpe {
namespace {

/// Symbols that a thread keeps room for from one word to the next.
constexpr size_t most_kept = size_t{1} << 20;

uint32_t next_owner() {
  static std::atomic<uint32_t> last{0};
  return ++last;
}

/// "<0x0A>", SentencePiece's name of the token of a byte.
std::string byte_name(unsigned byte) { return fmt::format("<0x{:02X}>", byte); }

/// What a merge joins: "a b", or ["a", "b"] where tokens hold spaces.
std::pair<std::string, std::string> parts_of_merge(const Json& json) {
  if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
    return {json[0].get<std::string>(), json[1].get<std::string>()};
  }
  require(json.is_string(), "tokenizer: a merge is ", shown(json), ", expected a string or a pair of them");
  const auto& text = json.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  require(space != std::string::npos && space > 0 && space + 1 < text.size() &&
              text.find(' ', space + 1) == std::string::npos,
          "tokenizer: the merge ", shown(json), " is not a pair of tokens with one space between them");
  return {text.substr(0, space), text.substr(space + 1)};
}

void check_options(const Json& json) {
  const std::string type = field_or<std::string>(json, "type", "BPE");
  if (type != "BPE") not_supported("model", type, "BPE, and SentencePiece models as tokenizer.model");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    require(field_or<std::string>(json, key, "").empty(), "tokenizer: ", in_quotes(key),
            " of the model is not supported");
  }
  const auto dropout = json.find("dropout");
  require(dropout == json.end() || dropout->is_null() || *dropout == 0,
          "tokenizer: 'dropout' of the model is not supported");
}

}  // namespace

Model::Model(const Json& json, bool byte_level) : byte_level_(byte_level), owner_(next_owner()) {
  require(json.is_object(), "tokenizer: the model is ", shown(json), ", expected an object");
  check_options(json);
  fuse_unknown_ = field_or(json, "fuse_unk", false);
  byte_fallback_ = field_or(json, "byte_fallback", false);
  ignore_merges_ = field_or(json, "ignore_merges", false);
  read_vocabulary(json);
  read_merges(json);

  byte_tokens_.fill(-1);
  bool all_bytes = true;
  for (unsigned byte = 0; byte < 256; ++byte) {
    byte_tokens_[byte] = find(byte_level_ ? utf8::encode(byte_alphabet()[byte]) : byte_name(byte));
    all_bytes = all_bytes && byte_tokens_[byte] >= 0;
  }
  require(byte_level_ || !byte_fallback_ || all_bytes,
          "tokenizer: 'byte_fallback' is true, but not all of <0x00> to <0xFF> are tokens");
  unknown_name_ = field_or<std::string>(json, "unk_token", "");
  if (!unknown_name_.empty()) {
    unknown_ = find(unknown_name_);
    require(unknown_ >= 0, "tokenizer: the unk_token ", in_quotes(unknown_name_),
            " is not in the vocabulary");
  }
  if (ignore_merges_) {
    for (const std::string& name : names_) {
      texts_.push_back(byte_level_ ? from_alphabet(name).value_or("") : name);
    }
    for (size_t i = 0; i < texts_.size(); ++i) whole_.emplace(texts_[i], static_cast<int32_t>(i));
  }
}

void Model::read_vocabulary(const Json& json) {
  const auto vocabulary = json.find("vocab");
  require(vocabulary != json.end() && vocabulary->is_object() && !vocabulary->empty(),
          "tokenizer: 'vocab' must be an object of tokens and their numbers, not empty");
  // Some files leave numbers out, but one number must not decide how much memory is taken.
  const uint64_t most = 2 * vocabulary->size() + 1024;
  uint64_t largest = 0;
  for (const auto& [name, number] : vocabulary->items()) {
    if (!number.is_number_integer() || number.get<int64_t>() < 0 || number.get<uint64_t>() >= most) {
      fail("tokenizer: the number of the token ", in_quotes(name), " is ", shown(number),
           ", expected one from 0 to ", most - 1, ", as there are ", vocabulary->size(), " tokens");
    }
    largest = std::max(largest, number.get<uint64_t>());
  }
  names_.resize(largest + 1);
  for (const auto& [name, number] : vocabulary->items()) {
    std::string& place = names_[number.get<size_t>()];
    if (!place.empty() || name.empty()) {
      fail("tokenizer: the number ", shown(number), " stands for ", in_quotes(place), " and ",
           in_quotes(name));
    }
    place = name;
  }
  numbers_.reserve(vocabulary->size());
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].empty()) numbers_.emplace(names_[i], static_cast<int32_t>(i));
  }
}

void Model::read_merges(const Json& json) {
  words_are_separate_ = !byte_level_ && !ignore_merges_ && find(space_mark) >= 0;
  for (const Json& merge : list_field(json, "merges")) read_merge(merge);
  table_ = MergeTable(merges_);
}

void Model::read_merge(const Json& json) {
  const auto [left, right] = parts_of_merge(json);
  const auto number = [&](const std::string& name) {
    const int32_t found = find(name);
    if (found < 0) {
      fail("tokenizer: the merge of ", in_quotes(left), " and ", in_quotes(right), " needs the token ",
           in_quotes(name), ", which the vocabulary lacks");
    }
    return found;
  };
  merges_.push_back({number(left), number(right), number(left + right)});
  if (right.starts_with(space_mark) && !left.ends_with(space_mark)) words_are_separate_ = false;
}

int32_t Model::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

void Model::encode(std::string_view piece, std::vector<int32_t>& tokens) const {
  if (!words_are_separate_) return encode_word(piece, tokens);
  while (!piece.empty()) {
    // A word: marks, then everything up to the next mark.
    size_t end = 0;
    while (piece.substr(end).starts_with(space_mark)) end += space_mark.size();
    end = std::min(piece.find(space_mark, end), piece.size());
    encode_word(piece.substr(0, end), tokens);
    piece.remove_prefix(end);
  }
}

void Model::encode_word(std::string_view word, std::vector<int32_t>& tokens) const {
  if (word.empty()) return;
  thread_local std::vector<int32_t> symbols;
  if (word.size() > WordCache::most_bytes) {
    compute(word, symbols);
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
    if (symbols.capacity() > most_kept) symbols = std::vector<int32_t>();
    return;
  }
  const WordCache::Key key = WordCache::key(word, owner_);
  WordCache::Slot& slot = WordCache::of_this_thread().slot(key);
  if (key == slot) [[likely]] {
    if (slot.count == 1) {
      tokens.push_back(slot.tokens[0]);
    } else {
      tokens.insert(tokens.end(), slot.tokens, slot.tokens + slot.count);
    }
    return;
  }
  compute(word, symbols);
  tokens.insert(tokens.end(), symbols.begin(), symbols.end());
  if (symbols.size() <= WordCache::most_tokens) {
    WordCache::store(slot, key, symbols.data(), symbols.size());
  }
}

void Model::compute(std::string_view word, std::vector<int32_t>& symbols) const {
  symbols.clear();
  symbols.reserve(word.size());
  if (ignore_merges_) {
    if (const auto found = whole_.find(word); found != whole_.end()) {
      symbols.push_back(found->second);
      return;
    }
  }
  if (byte_level_) {
    add_bytes(word, symbols);
  } else {
    add_characters(word, symbols);
  }
  table_.apply(symbols);
}

void Model::add_bytes(std::string_view bytes, std::vector<int32_t>& symbols) const {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int32_t token = byte_tokens_[static_cast<unsigned char>(bytes[i])];
    if (token >= 0) {
      symbols.push_back(token);
    } else {
      add_unknown(bytes.substr(i, 1), symbols);
    }
  }
}

void Model::add_characters(std::string_view text, std::vector<int32_t>& symbols) const {
  while (!text.empty()) {
    const size_t bytes = std::max<size_t>(utf8::decode_first(text).bytes, 1);
    const std::string_view character = text.substr(0, bytes);
    const int32_t token = find(character);
    if (token >= 0) {
      symbols.push_back(token);
    } else if (byte_fallback_) {
      for (char byte : character) symbols.push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
    } else {
      add_unknown(character, symbols);
    }
    text.remove_prefix(bytes);
  }
}

void Model::add_unknown(std::string_view what, std::vector<int32_t>& symbols) const {
  const utf8::Decoded character = utf8::decode_first(what);
  require(unknown_ >= 0, "encode: the vocabulary has no token for ",
          character.bytes ? utf8::describe(character.code_point)
                          : fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(what[0])),
          ", and no unk_token");
  if (fuse_unknown_ && !symbols.empty() && symbols.back() == unknown_) return;
  symbols.push_back(unknown_);
}

Json Model::to_json() const {
  Json vocabulary = Json::object(), merges = Json::array();
  bool spaces = false;  // in tokens: then a merge must be a pair of strings
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty()) continue;
    vocabulary[names_[i]] = i;
    spaces = spaces || names_[i].find(' ') != std::string::npos;
  }
  for (const Merge& merge : merges_) {
    const std::string &left = name(merge.left), &right = name(merge.right);
    merges.push_back(spaces ? Json::array({left, right}) : Json(left + " " + right));
  }
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", text_or_null(unknown_name_)},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", fuse_unknown_},
          {"byte_fallback", byte_fallback_},
          {"ignore_merges", ignore_merges_},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

}  // namespace cladtorch::data::bpe
