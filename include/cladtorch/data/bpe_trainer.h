// Learns a byte-level BPE vocabulary from text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/data/text_files.h"

namespace cladtorch::data {

struct BpeTrainingOptions {
  int64_t vocab_size = 32000;    ///< of all: special tokens, 256 bytes, merges
  std::string pattern = "gpt2";  ///< the pattern that cuts text into words: gpt2 or gpt4
  int64_t min_frequency = 2;     ///< a pair seen less often is not merged
  std::vector<std::string> special_tokens = {"<|endoftext|>"};  ///< get the first numbers
  int threads = 1;                                              ///< to count words with
  /// Different words kept in memory. When there are more, the rarest are forgotten, so that the text may be
  /// of any size; at the default that takes about a gigabyte.
  size_t most_words = 8'000'000;
  /// Called now and then with what is being done and how much of it is done, from 0 to 1.
  std::function<void(const std::string& phase, double done)> progress{};
};

/// Merges the most frequent pair of neighbours inside words until the vocabulary is full (Sennrich et al.
/// 2016); between equally frequent pairs the one with the smaller numbers is first. The result depends on the
/// text and the options alone, not on `threads`, and is the one that the trainer of Hugging Face's
/// `tokenizers` finds. It has fewer tokens than asked for where the text gives no more. Text that is
/// a special token teaches nothing. Throws Error on options that make no sense.
std::shared_ptr<const BpeTokenizer> train_bpe(const TextFiles& text, const BpeTrainingOptions& options);

}  // namespace cladtorch::data
