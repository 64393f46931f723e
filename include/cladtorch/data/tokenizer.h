// Text to tokens and back: the interface of every vocabulary, and vocabularies of bytes and of characters.
// Vocabularies of pretrained models are in bpe_tokenizer.h and sentencepiece_tokenizer.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cladtorch::data {

/// Tokens with a meaning of their own.
struct SpecialTokens {
  std::vector<int32_t> before;         ///< tokens that a model expects before a text, such as Llama's `<s>`
  std::vector<int32_t> after;          ///< and after it
  std::optional<int32_t> end_of_text;  ///< the token between two documents, such as GPT-2's `<|endoftext|>`
  std::optional<int32_t> begin_of_text = {};  ///< begins a text that has no prompt
  std::optional<int32_t> padding = {};        ///< fills up sequences of a batch
};

/// The names of tokens with a role, such as `</s>`; empty if no file names one.
struct SpecialNames {
  std::string begin, end, padding;
};

/// A map between text and token numbers 0 .. vocab_size() - 1. Immutable after construction, so one object
/// may be shared by threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "byte", "char", "bpe" or "sentencepiece".
  virtual std::string kind() const = 0;
  virtual int64_t vocab_size() const = 0;

  /// Tokens of `text`, without special_tokens() around it. Throws Error naming the character and its byte
  /// offset when the vocabulary lacks it.
  std::vector<int32_t> encode(std::string_view text) const;

  /// Appends the tokens of `text` to `tokens`. If `begins` is false, the text continues one that ended
  /// at its whole_length.
  virtual void append_tokens(std::string_view text, std::vector<int32_t>& tokens,
                             bool begins = true) const = 0;

  /// The length of the beginning of `text` that can be encoded before its continuation is known: the tokens
  /// of that part and those of the rest (with `begins` false) are the tokens of the whole. It may be 0.
  /// TokenStream (token_stream.h) uses it to encode a text in pieces.
  virtual size_t whole_length(std::string_view text) const { return text.size(); }

  /// Whether encode() refuses bytes that are not UTF-8.
  virtual bool needs_utf8() const { return false; }

  /// The bytes of one token; a view that lives as long as the tokenizer. Throws Error on a number out of
  /// range. One byte token may be a part of a character: a stream of them is valid UTF-8 only as a whole.
  virtual std::string_view token_bytes(int32_t token) const = 0;

  /// The text of `tokens`: their bytes one after the other, without a space that encode() put before the
  /// text.
  virtual std::string decode(std::span<const int32_t> tokens) const;

  virtual const SpecialTokens& special_tokens() const;
  /// Whether `token` stands for no text, as <|endoftext|> does.
  virtual bool is_special(int32_t token) const;

  /// Hugging Face's encode with special tokens: the text between special_tokens().before and .after.
  std::vector<int32_t> encode_whole(std::string_view text) const;

  /// The JSON object that tokenizer_from_json turns back into an equal tokenizer (format in docs/data.md).
  virtual nlohmann::json to_json() const = 0;

  /// 64-bit hash of the vocabulary. Shards carry it, so tokens are never read with another vocabulary.
  uint64_t fingerprint() const;

  /// Writes to_json() to `path` atomically.
  void save(const std::filesystem::path& path) const;

  /// The content, by name, of the files that hold it in a Hugging Face folder, from which load_tokenizer()
  /// makes an equal one: tokenizer.json or tokenizer.model, and tokenizer_config.json for the roles of
  /// tokens.
  virtual std::map<std::string, std::string> files() const;
};

using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// 256 tokens, one per byte value: accepts any bytes.
class ByteTokenizer final : public Tokenizer {
 public:
  std::string kind() const override { return "byte"; }
  int64_t vocab_size() const override { return 256; }
  void append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool begins) const override;
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
  bool needs_utf8() const override { return true; }
  size_t whole_length(std::string_view text) const override;
  void append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool begins) const override;
  std::string_view token_bytes(int32_t token) const override;
  nlohmann::json to_json() const override;

  std::span<const char32_t> code_points() const { return code_points_; }

 private:
  std::vector<char32_t> code_points_;
  std::vector<std::string> bytes_;
  std::vector<int32_t> ascii_;  // token of each code point below 128, or -1
  std::unordered_map<char32_t, int32_t> others_;
};

/// The tokenizer that `json` describes, which is the result of Tokenizer::to_json, or a tokenizer.json of
/// Hugging Face's tokenizers whose model is BPE. Throws Error naming what is wrong or not supported.
TokenizerPtr tokenizer_from_json(const nlohmann::json& json);

/// The tokenizer in `path`:
/// - a file tokenizer.json, ours or of Hugging Face's tokenizers;
/// - vocab.json or encoder.json with merges.txt or vocab.bpe beside it, or one of the latter (GPT-2's files);
/// - a SentencePiece model (*.model);
/// - a folder that holds one of these, looked for in this order. There, tokenizer_config.json,
///   special_tokens_map.json and added_tokens.json are read as transformers reads them: they add tokens and
///   say which ones begin, end and pad a text. If no tokenizer.json of transformers says which tokens go
///   around a text, add_bos_token and add_eos_token do.
/// Throws Error naming the file and what is wrong with it.
TokenizerPtr load_tokenizer(const std::filesystem::path& path);

/// Whether load_tokenizer() finds the files of a tokenizer in `folder`.
bool holds_tokenizer(const std::filesystem::path& folder);

}  // namespace cladtorch::data
