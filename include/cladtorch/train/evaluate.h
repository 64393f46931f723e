// Measures how well a model predicts given tokens.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

#include "cladtorch/data/token_sequence.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// The result of an evaluation. `loss` is NaN if nothing was predicted.
struct Evaluation {
  double loss = 0;     ///< mean, nats per token
  int64_t tokens = 0;  ///< how many were predicted
  double perplexity() const { return std::exp(loss); }
};

/// The targets of the tokens [B, T], as transformers shifts labels that equal the ids: each token predicts
/// its successor, and the last one of a row predicts nothing (-100).
Tensor shifted_targets(const Tensor& tokens);

/// Evaluates the successors in each row of `tokens` [B, T]. Adds the derivative of the loss to `gradient`
/// unless that is null.
Evaluation evaluate_tokens(const LanguageModel& model, const Tensor& tokens,
                           LanguageModel* gradient = nullptr);

struct TextEvaluationOptions {
  int64_t context = 0;  ///< tokens in a window; 0: as many as the model takes, but at most 1024
  int64_t stride = 0;   ///< tokens from one window to the next; 0: half a window
  int64_t batch = 4;    ///< windows at a time
  /// Called with the part that is done, from 0 to 1.
  std::function<void(double)> progress{};
};

/// Evaluates one long text: every token but the first and the ignored ones is predicted once. If windows
/// overlap, every token after the first window is predicted from at least context - stride tokens before it.
/// Throws Error for fewer than two tokens, one that the model does not know, or options that do not fit the
/// model.
Evaluation evaluate_text(const LanguageModel& model, const data::TokenSequence& tokens,
                         const TextEvaluationOptions& options = {});

}  // namespace cladtorch::train
