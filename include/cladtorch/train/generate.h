// Generates text with a trained model, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/random.h"

namespace cladtorch::train {

struct SamplingOptions {
  double temperature = 1.0;  ///< divides the scores; 0 takes the most likely token
  int64_t top_k = 0;         ///< only the k most likely tokens; 0: all
  double top_p = 1.0;        ///< only the most likely tokens that together reach this probability
  uint64_t seed = 1;
  std::vector<int32_t> stop = {};  ///< tokens that end the text; none of them is passed on
  /// Only tokens below this number are drawn, because a model may have rows for more tokens than its
  /// tokenizer has. 0 means all.
  int64_t vocab_size = 0;
};

/// Draws tokens from scores.
class Sampler {
 public:
  /// Throws Error for a negative temperature or top_k, or a top_p outside (0, 1].
  explicit Sampler(const SamplingOptions& options);
  /// Throws Error for scores that are not finite.
  int32_t draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  Random random_;
  std::vector<std::pair<float, int32_t>> candidates_;
};

/// Holds back the bytes of a character that is not complete yet.
class Utf8Stream {
 public:
  explicit Utf8Stream(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}
  void write(std::string_view bytes);
  /// Passes on the remaining bytes, complete or not.
  void finish();

 private:
  std::function<void(std::string_view)> sink_;
  std::string pending_;
};

/// Continues `prompt` by `tokens` tokens, or to the first one of `options.stop`, and passes each to `emit` as
/// soon as it is drawn. Keys and values of earlier positions are cached; when the context is full, the later
/// half of it is read again as a new beginning. Throws Error when the prompt is empty.
void generate(const LanguageModel& model, std::span<const int32_t> prompt, int64_t tokens,
              const SamplingOptions& options, const std::function<void(int32_t)>& emit);

/// The prompt after the tokens that the vocabulary puts before a text. If both are empty, the result is
/// `begin` or the token that begins a text, or in a vocabulary without one an empty line, after which a text
/// may begin.
std::vector<int32_t> encode_prompt(const data::Tokenizer& tokenizer, std::string_view prompt,
                                   std::optional<int32_t> begin = {});

/// The continuation of `prompt` as text, without special tokens, up to the token that ends a text.
std::string generate_text(const LanguageModel& model, const data::Tokenizer& tokenizer,
                          std::string_view prompt, int64_t tokens, SamplingOptions options);

}  // namespace cladtorch::train
