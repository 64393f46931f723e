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
  int64_t vocab_size = 32000;    ///< special tokens, 256 bytes and merges together
  std::string pattern = "gpt2";  ///< the pattern that cuts text into words: gpt2 or gpt4
  int64_t min_frequency = 2;     ///< a pair seen less often is not merged
  std::vector<std::string> special_tokens = {"<|endoftext|>"};  ///< get the first numbers
  int threads = 1;                                              ///< that count words
  /// The number of different words kept in memory. If there are more, the rarest are forgotten, so that the
  /// text may be of any size; the default takes about a gigabyte.
  size_t most_words = 8'000'000;
  /// Called now and then with the current activity and the part of it that is done, from 0 to 1.
  std::function<void(const std::string& phase, double done)> progress{};
};

/// Merges the most frequent pair of neighbours inside words until the vocabulary is full (Sennrich et al.
/// 2016); between equally frequent pairs the one with the smaller numbers is first. The result depends
/// only on the text and the options, not on `threads`, and is the one that the trainer of Hugging Face's
/// `tokenizers` finds. It has fewer tokens than requested if the text has no more pairs. Special tokens in
/// the text are ignored. Throws Error on invalid options.
std::shared_ptr<const BpeTokenizer> train_bpe(const TextFiles& text, const BpeTrainingOptions& options);

}  // namespace cladtorch::data
