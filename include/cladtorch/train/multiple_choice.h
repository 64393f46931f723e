// Finds which of several endings a model considers most likely, for HellaSwag and similar data sets.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cladtorch/data/hellaswag.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// Tokens that are read, and continuations that are predicted.
struct Continuation {
  std::vector<int32_t> context, tokens;
};

struct ScoreOptions {
  /// Called with the part that is done, from 0 to 1.
  std::function<void(double)> progress{};
};

/// For each continuation, the sum over its tokens of the logarithm of their probability, in nats. If both
/// parts do not fit into the model, the beginning of the context is left out. Throws Error for a continuation
/// that is empty or longer than the model takes, or a context that is empty.
std::vector<double> log_likelihoods(const LanguageModel& model, std::span<const Continuation> continuations,
                                    const ScoreOptions& options = {});

/// How `text` goes on with `more`, as lm-evaluation-harness cuts it: both are encoded as one, the tokens that
/// the context alone has are the context, and spaces at its end belong to the continuation. What the
/// tokenizer wants before a text comes first.
Continuation encode_continuation(const data::Tokenizer& tokenizer, std::string_view text,
                                 std::string_view more);

/// A share of successes among `of` trials.
struct Proportion {
  int64_t count = 0, of = 0;
  double value() const { return static_cast<double>(count) / static_cast<double>(of); }
  /// Of value(), by the spread of the trials; NaN for fewer than two.
  double standard_error() const;
};

struct ChoiceEvaluation {
  Proportion accuracy{};    ///< the most likely ending is the right one
  Proportion normalized{};  ///< the same where the log likelihood is divided by the ending's length
  std::vector<double> log_likelihoods{};  ///< of each question's endings, one after the other
};

/// Whether `model` prefers the right endings; of several equally likely ones it takes the first. Throws Error
/// naming the line of a question that does not fit the tokenizer or the model.
ChoiceEvaluation evaluate_hellaswag(const LanguageModel& model, const data::Tokenizer& tokenizer,
                                    std::span<const data::ChoiceQuestion> questions,
                                    data::HellaSwagStyle style, const ScoreOptions& options = {});

}  // namespace cladtorch::train
