// The documents of a text as tokens, encoded by several threads.
#pragma once

#include <filesystem>

#include "cladtorch/data/prepare.h"
#include "cladtorch/data/token_sequence.h"
#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

/// A text, and one for validation where there is one, that is going to be encoded.
class TextEncoder {
 public:
  /// Looks the files up, and reads all of them where the vocabulary is made from their characters. `options`
  /// must outlive this.
  TextEncoder(const std::filesystem::path& path, const PrepareOptions& options);

  const TokenizerPtr& tokenizer() const { return tokenizer_; }
  /// How the text will be split, when it has no validation text of its own.
  Split split() const { return split_; }

  /// Gives every document either to `train` or to `validation`; with Split::tail, and no text of its own for
  /// validation, all go to `train`. Counts documents and skipped lines.
  PrepareSummary encode(TokenSink& train, TokenSink& validation) const;

  /// The tokens at the end of `tokens` that Split::tail takes for validation.
  uint64_t tail(uint64_t tokens) const;
  bool has_json_lines() const { return files_.has_json_lines(); }
  bool splits_tail() const { return !validation_files_ && split_ == Split::tail; }

 private:
  const PrepareOptions& options_;
  TextFiles files_;
  std::optional<TextFiles> validation_files_;
  Split split_;
  TokenizerPtr tokenizer_;
};

}  // namespace cladtorch::data
