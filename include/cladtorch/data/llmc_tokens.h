// The token files of llm.c: a header of 256 int32 and the tokens, 16 bits each for GPT-2's vocabulary, 32 for
// Llama 3's. Source: https://github.com/karpathy/llm.c, dev/data/data_common.py.
#pragma once

#include <filesystem>
#include <memory>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/token_sequence.h"

namespace cladtorch::data {

/// A token file mapped read-only into memory. Moves are cheap; copies share the mapping.
class LlmcTokens {
 public:
  /// Maps `path` after checking magic, version, length and that each token fits an int32. Throws Error naming
  /// the file.
  static LlmcTokens open(const std::filesystem::path& path);

  /// Whether `path` begins like such a file.
  static bool is_one(const std::filesystem::path& path);

  /// The tokens; valid as long as any copy of this object lives.
  TokenSpan tokens() const { return tokens_; }

 private:
  std::shared_ptr<const void> mapping_;
  TokenSpan tokens_;
};

/// Writes `tokens` atomically, in 16 bits each as llm.c keeps GPT-2's, or in 32 as it keeps Llama 3's. Throws
/// Error for a token that does not fit, or for 2^31 tokens and more, because llm.c counts them in an int32.
void write_llmc_tokens(const std::filesystem::path& path, const TokenSequence& tokens, TokenWidth width);

/// Writes `dataset` to the new folder `folder`: files train_000000.bin ... and val_000000.bin ... of at most
/// `file_tokens` tokens, as wide as the vocabulary needs, and tokenizer.json beside them. Throws Error if
/// the folder is not empty, and for a dataset with prompts, because the files cannot mark tokens as not
/// learned.
void write_llmc_folder(const Dataset& dataset, const std::filesystem::path& folder,
                       uint64_t file_tokens = 100'000'000);

}  // namespace cladtorch::data
