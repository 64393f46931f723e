#include "cladtorch/data/tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/data/sentencepiece_tokenizer.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "data/text/utf8.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/character_set.h"

namespace cladtorch::data {
namespace {

using bpe::shown;

constexpr const char* format_name = "cladtorch-tokenizer";
constexpr int format_version = 1;

nlohmann::json header(const std::string& kind) {
  return {{"format", format_name}, {"version", format_version}, {"kind", kind}};
}

void check_token(int32_t token, int64_t vocab_size) {
  require(token >= 0 && token < vocab_size, "decode: token ", token, " is outside the vocabulary of ",
          vocab_size);
}

std::vector<char32_t> read_characters(const nlohmann::json& json) {
  const auto characters = json.find("characters");
  require(characters != json.end() && characters->is_array(),
          "tokenizer: 'characters' must be a list of strings");
  std::vector<char32_t> code_points;
  for (const nlohmann::json& entry : *characters) {
    const std::string text = entry.is_string() ? entry.get<std::string>() : "";
    const utf8::Decoded first = utf8::decode_first(text);
    require(first.bytes > 0 && first.bytes == text.size(), "tokenizer: entry ", code_points.size(),
            " of 'characters' must be a string of one character, got ", shown(entry));
    code_points.push_back(first.code_point);
  }
  return code_points;
}

}  // namespace

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  append_tokens(text, tokens);
  return tokens;
}

std::vector<int32_t> Tokenizer::encode_whole(std::string_view text) const {
  std::vector<int32_t> tokens = special_tokens().before;
  append_tokens(text, tokens);
  const std::vector<int32_t>& after = special_tokens().after;
  tokens.insert(tokens.end(), after.begin(), after.end());
  return tokens;
}

const SpecialTokens& Tokenizer::special_tokens() const {
  static const SpecialTokens none;
  return none;
}

bool Tokenizer::is_special(int32_t) const { return false; }

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (int32_t token : tokens) text += token_bytes(token);
  return text;
}

uint64_t Tokenizer::fingerprint() const {
  // FNV-1a over the JSON text, which lists keys and characters in a fixed order.
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : to_json().dump()) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

namespace {

/// One line: a list of characters, one to a line, would only be longer.
std::string text_of(const nlohmann::json& json) { return json.dump() + "\n"; }

}  // namespace

void Tokenizer::save(const std::filesystem::path& path) const { io::write_file(path, text_of(to_json())); }

std::map<std::string, std::string> Tokenizer::files() const {
  return {{"tokenizer.json", text_of(to_json())}};
}

void ByteTokenizer::append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool) const {
  const size_t before = tokens.size();
  tokens.resize(before + text.size());
  std::transform(text.begin(), text.end(), tokens.begin() + static_cast<ptrdiff_t>(before),
                 [](char c) { return static_cast<unsigned char>(c); });
}

std::string_view ByteTokenizer::token_bytes(int32_t token) const {
  static const std::array<char, 256> all = [] {
    std::array<char, 256> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
    return bytes;
  }();
  check_token(token, vocab_size());
  return {&all[static_cast<size_t>(token)], 1};
}

nlohmann::json ByteTokenizer::to_json() const { return header(kind()); }

CharTokenizer::CharTokenizer(std::vector<char32_t> code_points)
    : code_points_(std::move(code_points)), ascii_(128, -1) {
  require(!code_points_.empty(), "tokenizer: a character vocabulary needs at least one character");
  for (size_t i = 0; i < code_points_.size(); ++i) {
    const char32_t c = code_points_[i];
    require(utf8::is_scalar(c), "tokenizer: U+", std::hex, static_cast<uint32_t>(c), " is not a character");
    require(i == 0 || code_points_[i - 1] < c, "tokenizer: characters must ascend, but ", utf8::describe(c),
            " does not");
    bytes_.push_back(utf8::encode(c));
    if (c < 128) {
      ascii_[c] = static_cast<int32_t>(i);
    } else {
      others_.emplace(c, static_cast<int32_t>(i));
    }
  }
}

CharTokenizer CharTokenizer::from_text(std::string_view text) {
  CharacterSet characters;
  characters.add(text);
  return CharTokenizer(characters.code_points());
}

size_t CharTokenizer::whole_length(std::string_view text) const {
  return text.size() - utf8::unfinished_tail(text);
}

void CharTokenizer::append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool) const {
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode_first(text.substr(at));
    require(next.bytes > 0, "encode: the text is not UTF-8 at byte ", at);
    int32_t token = -1;
    if (next.code_point < 128) {
      token = ascii_[next.code_point];
    } else if (const auto found = others_.find(next.code_point); found != others_.end()) {
      token = found->second;
    }
    if (token < 0) {
      fail("encode: the character ", utf8::describe(next.code_point), " at byte ", at,
           " did not occur in the training text (", vocab_size(),
           " characters); leave it out, or train with the byte vocabulary");
    }
    tokens.push_back(token);
    at += next.bytes;
  }
}

std::string_view CharTokenizer::token_bytes(int32_t token) const {
  check_token(token, vocab_size());
  return bytes_[static_cast<size_t>(token)];
}

nlohmann::json CharTokenizer::to_json() const {
  nlohmann::json json = header(kind());
  json["characters"] = bytes_;
  return json;
}

TokenizerPtr tokenizer_from_json(const nlohmann::json& json) {
  if (json.is_object() && json.contains("model") && !json.contains("format"))
    return BpeTokenizer::from_json(json);
  require(json.is_object() && json.value("format", nlohmann::json()) == format_name,
          "tokenizer: expected an object with \"format\": \"", format_name,
          "\", or with the \"model\" of a Hugging Face tokenizer");
  require(json.value("version", nlohmann::json()) == format_version, "tokenizer: expected version ",
          format_version, ", got ", shown(json.value("version", nlohmann::json())));
  const nlohmann::json kind = json.value("kind", nlohmann::json());
  if (kind == "byte") return std::make_shared<ByteTokenizer>();
  if (kind == "char") return std::make_shared<CharTokenizer>(read_characters(json));
  if (kind == "sentencepiece") return SentencePieceTokenizer::from_json(json);
  fail("tokenizer: expected kind \"byte\", \"char\" or \"sentencepiece\", got ", shown(kind));
}

}  // namespace cladtorch::data
