// How well a model predicts given tokens.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

#include "cladtorch/data/token_sequence.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// `loss` is NaN where nothing was predicted.
struct Evaluation {
  double loss = 0;     ///< mean, nats per token
  int64_t tokens = 0;  ///< how many were predicted
  double perplexity() const { return std::exp(loss); }
};

/// What each of the tokens [B, T] has to predict, as transformers shifts labels that equal the ids: its
/// successor, and at the end of a row nothing (-100).
Tensor shifted_targets(const Tensor& tokens);

/// Of the successors in each row of `tokens` [B, T]. Adds the derivative of the loss to `gradient` unless
/// that is null.
Evaluation evaluate_tokens(const LanguageModel& model, const Tensor& tokens,
                           LanguageModel* gradient = nullptr);

struct TextEvaluationOptions {
  int64_t context = 0;  ///< tokens in a window; 0: what the model takes, but at most 1024
  int64_t stride = 0;   ///< tokens from one window to the next; 0: half a window
  int64_t batch = 4;    ///< windows at a time
  /// Told the part that is done, from 0 to 1.
  std::function<void(double)> progress{};
};

/// Of one long text: every token but the first and the ignored ones is predicted once, and with windows that
/// overlap, every one after the first window from at least context - stride tokens before it. Throws Error
/// for fewer than two tokens, one that the model does not know, or options that do not fit the model.
Evaluation evaluate_text(const LanguageModel& model, const data::TokenSequence& tokens,
                         const TextEvaluationOptions& options = {});

}  // namespace cladtorch::train
