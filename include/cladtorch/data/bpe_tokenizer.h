// Byte pair encoding: the vocabularies of GPT-2, GPT-4, Llama, Mistral, Qwen and others.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

/// A tokenizer.json of Hugging Face's `tokenizers` whose model is BPE (docs/data.md lists the parts that are
/// supported). For every text in UTF-8 the tokens are those of that library. It refuses bytes that are not
/// UTF-8; here, a vocabulary that is byte-level or has byte_fallback encodes them unchanged, each as a
/// character that is no letter, number or space, and decode() gives them back.
///
/// Added tokens are found in the text: "<|endoftext|>" is one token. encode() takes time in proportion to the
/// text, less than a microsecond per word.
class BpeTokenizer final : public Tokenizer {
 public:
  /// `names` are tokens with a role, which the vocabulary must have. If none is named, the token that ends a
  /// text is found by its usual names. Throws Error naming what is wrong or not supported.
  static std::shared_ptr<const BpeTokenizer> from_json(const nlohmann::json& json,
                                                       const SpecialNames& names = {});

  /// GPT-2's files: `vocabulary` maps tokens to numbers (encoder.json, vocab.json), `merges` has one merge
  /// per line (vocab.bpe, merges.txt).
  static std::shared_ptr<const BpeTokenizer> from_vocabulary_and_merges(const nlohmann::json& vocabulary,
                                                                        std::string_view merges);

  ~BpeTokenizer() override;

  std::string kind() const override { return "bpe"; }
  int64_t vocab_size() const override;
  void append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool begins) const override;
  size_t whole_length(std::string_view text) const override;
  /// A number without a token has no bytes.
  std::string_view token_bytes(int32_t token) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  const SpecialTokens& special_tokens() const override;
  bool is_special(int32_t token) const override;

  /// A tokenizer.json that Hugging Face's `tokenizers` loads too.
  nlohmann::json to_json() const override;
  /// tokenizer.json and tokenizer_config.json.
  std::map<std::string, std::string> files() const override;

  /// The number of a token as the file writes it ("Ġthe", "<|endoftext|>").
  std::optional<int32_t> find(std::string_view name) const;

 private:
  struct Parts;
  explicit BpeTokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace cladtorch::data
