// SentencePiece models (tokenizer.model of Llama 1 and 2, Mistral, T5), through the SentencePiece library.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

struct TokenizerSettings;

/// An entry of a SentencePiece vocabulary.
struct SentencePiece {
  enum class Kind { normal, unknown, control, user_defined, unused, byte };
  std::string text = {};  ///< spaces are "▁", bytes "<0x0A>"
  float score = 0;
  Kind kind = Kind::normal;
};

/// Tokens as the library gives them. The text must be UTF-8. decode() does not undo changes of the model's
/// normalizer, which may join spaces.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// `model` is the content of the file. Throws Error if it is not a SentencePiece model.
  explicit SentencePieceTokenizer(std::string model);
  /// The same with added tokens, which are found literally in the text.
  SentencePieceTokenizer(std::string model, const TokenizerSettings& settings);
  /// Reads the result of to_json().
  static std::shared_ptr<const SentencePieceTokenizer> from_json(const nlohmann::json& json);
  ~SentencePieceTokenizer() override;

  std::string kind() const override { return "sentencepiece"; }
  int64_t vocab_size() const override;
  void append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool begins) const override;
  size_t whole_length(std::string_view text) const override;
  bool needs_utf8() const override { return true; }
  std::string_view token_bytes(int32_t token) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  const SpecialTokens& special_tokens() const override;
  bool is_special(int32_t token) const override;

  /// The vocabulary of the file, by number. Added tokens are control or user-defined pieces with a lower
  /// score than any other piece; a number without a token is an unused piece without text.
  std::vector<SentencePiece> pieces() const;
  /// Whether it joins pairs of pieces by their scores (BPE).
  bool joins_pairs() const;
  /// Whether encode() puts a space before a text.
  bool adds_space() const;
  /// The piece for text that the vocabulary lacks.
  std::optional<int32_t> unknown() const;

  /// {"format": "cladtorch-tokenizer", "version": 1, "kind": "sentencepiece", "model": base64 of the file};
  /// settings that matter are added under their names in tokenizer_config.json.
  nlohmann::json to_json() const override;
  /// tokenizer.model and tokenizer_config.json.
  std::map<std::string, std::string> files() const override;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

/// The tokenizer.model in `folder`, with the tokens that the files beside it add; null if there is none.
/// Throws Error naming the file and what is wrong with it.
std::shared_ptr<const SentencePieceTokenizer> load_sentencepiece(const std::filesystem::path& folder);

}  // namespace cladtorch::data
