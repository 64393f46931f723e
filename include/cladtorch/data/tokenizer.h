// Text to tokens and back: bytes, Unicode characters, and the seam for merges learned from text (BPE).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cladtorch::data {

/// A reversible map between text and token numbers 0 .. vocab_size() - 1. Immutable after construction, so
/// one object may be shared by threads. `decode(encode(text)) == text` for every text that `encode` accepts.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The name under which tokenizer_from_json finds the class: "byte" or "char".
  virtual std::string kind() const = 0;
  virtual int64_t vocab_size() const = 0;

  /// Tokens of `text`. Throws Error naming the character and its byte offset when the vocabulary lacks it.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;

  /// The bytes of one token; a view that lives as long as the tokenizer. Throws Error on a number out of
  /// range. One byte token may be a part of a character: a stream of them is valid UTF-8 only as a whole.
  virtual std::string_view token_bytes(int32_t token) const = 0;

  /// The JSON object that tokenizer_from_json turns back into an equal tokenizer (format in docs/data.md).
  virtual nlohmann::json to_json() const = 0;

  std::string decode(std::span<const int32_t> tokens) const;

  /// 64-bit hash of the vocabulary. Shards carry it, so tokens are never read with a foreign vocabulary.
  uint64_t fingerprint() const;

  /// Writes to_json() to `path` atomically.
  void save(const std::filesystem::path& path) const;
};

using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// 256 tokens, one per byte value: accepts any bytes.
class ByteTokenizer final : public Tokenizer {
 public:
  std::string kind() const override { return "byte"; }
  int64_t vocab_size() const override { return 256; }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string_view token_bytes(int32_t token) const override;
  nlohmann::json to_json() const override;
};

/// One token per Unicode code point found in the training text, in ascending order of code points.
class CharTokenizer final : public Tokenizer {
 public:
  /// `code_points` must be strictly ascending Unicode scalar values, at least one.
  explicit CharTokenizer(std::vector<char32_t> code_points);

  /// The vocabulary of `text`, which must be valid UTF-8 and not empty.
  static CharTokenizer from_text(std::string_view text);

  std::string kind() const override { return "char"; }
  int64_t vocab_size() const override { return static_cast<int64_t>(code_points_.size()); }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string_view token_bytes(int32_t token) const override;
  nlohmann::json to_json() const override;

  std::span<const char32_t> code_points() const { return code_points_; }

 private:
  std::vector<char32_t> code_points_;
  std::vector<std::string> bytes_;
  std::vector<int32_t> ascii_;  // token of each code point below 128, -1 where there is none
  std::unordered_map<char32_t, int32_t> others_;
};

/// The tokenizer that `json` (of Tokenizer::to_json) describes. Throws Error naming what is wrong.
TokenizerPtr tokenizer_from_json(const nlohmann::json& json);

/// The tokenizer saved in the file `path`.
TokenizerPtr load_tokenizer(const std::filesystem::path& path);

}  // namespace cladtorch::data
