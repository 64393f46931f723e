// The token files of llm.c: a header of 256 int32 and the tokens, 16 bits each for GPT-2's vocabulary, 32 for
// Llama 3's. Source: https://github.com/karpathy/llm.c, dev/data/data_common.py.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "cladtorch/data/token_span.h"

namespace cladtorch::data {

/// A token file mapped read-only into memory. Moves are cheap; copies share the mapping.
class LlmcTokens {
 public:
  /// Maps `path` after checking magic, version, length and that each token fits an int32. Throws Error naming
  /// the file.
  static LlmcTokens open(const std::filesystem::path& path);

  /// Whether `path` begins as such a file does.
  static bool is_one(const std::filesystem::path& path);

  /// The tokens; valid as long as any copy of this object lives.
  TokenSpan tokens() const { return tokens_; }

 private:
  std::shared_ptr<const void> mapping_;
  TokenSpan tokens_;
};

/// Writes the tokens of `parts`, one after the other, atomically: 16 bits each as llm.c keeps GPT-2's, 32 as
/// Llama 3's. Throws Error for a token that does not fit, or for 2^31 tokens and more: llm.c counts them in
/// an int32.
void write_llmc_tokens(const std::filesystem::path& path, std::span<const TokenSpan> parts, TokenWidth width);

}  // namespace cladtorch::data
