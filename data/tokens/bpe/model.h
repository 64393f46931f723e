// The "model" of a tokenizer.json: tokens, merges, and what becomes of characters that are no token.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokens/bpe/merge_table.h"

namespace cladtorch::data::bpe {

/// The character that stands for a space where tokens are made of characters (SentencePiece's).
inline constexpr std::string_view space_mark = "\u2581";

/// Not copyable: maps look into its strings.
class Model {
 public:
  /// `json`: {"type": "BPE", "vocab": {token: number}, "merges": [...], ...}. With `byte_level` the
  /// characters of tokens stand for bytes. Throws Error naming what is wrong or not supported.
  Model(const nlohmann::json& json, bool byte_level);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// One more than the largest number of a token; numbers in between may be without a token.
  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  /// The token as the file writes it; empty where there is none.
  const std::string& name(int64_t token) const { return names_[static_cast<size_t>(token)]; }
  /// The number of a token, -1 where there is none.
  int32_t find(std::string_view name) const;

  /// Appends the tokens of one piece of text: bytes, or characters of valid UTF-8 and stray bytes.
  void encode(std::string_view piece, std::vector<int32_t>& tokens) const;

  /// Whether no token goes over from another character to a space_mark: words can be encoded one by one.
  bool words_are_separate() const { return words_are_separate_; }

  nlohmann::json to_json() const;

 private:
  void read_vocabulary(const nlohmann::json& json);
  void read_merges(const nlohmann::json& json);
  void read_merge(const nlohmann::json& json);
  void encode_word(std::string_view word, std::vector<int32_t>& tokens) const;
  void compute(std::string_view word, std::vector<int32_t>& symbols) const;
  void add_bytes(std::string_view bytes, std::vector<int32_t>& symbols) const;
  void add_characters(std::string_view text, std::vector<int32_t>& symbols) const;
  void add_unknown(std::string_view what, std::vector<int32_t>& symbols) const;

  bool byte_level_;
  bool fuse_unknown_ = false, byte_fallback_ = false, ignore_merges_ = false;
  bool words_are_separate_ = false;
  std::string unknown_name_;
  int32_t unknown_ = -1;
  uint32_t owner_;  // of slots in the word cache
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, int32_t> numbers_;
  std::array<int32_t, 256> byte_tokens_{};  // of single bytes; -1 where there is none
  std::vector<std::string> texts_;          // with byte_level_ and ignore_merges_: bytes of tokens
  std::unordered_map<std::string_view, int32_t> whole_;  // tokens by their text, where merges are ignored
  std::vector<Merge> merges_;
  MergeTable table_;
};

}  // namespace cladtorch::data::bpe
