// Converts a mean loss to the units in which models are compared.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>

#include "cladtorch/data/loader.h"
#include "cladtorch/data/tokenizer.h"

namespace cladtorch::train {

/// e to the power of a mean loss in nats per token: the model is as unsure as among that many equally likely
/// tokens.
inline double perplexity(double loss) { return std::exp(loss); }

/// A mean loss in nats per token as bits per byte of text, which is comparable across vocabularies.
inline double bits_per_byte(double loss, double bytes_per_token) {
  return loss / std::numbers::ln2 / bytes_per_token;
}

/// Mean bytes of text of the tokens that `batches` score; nothing if these have no text. A special token
/// such as <|endoftext|> counts as a token without bytes.
std::optional<double> bytes_per_token(const data::EvalBatches& batches, const data::Tokenizer& tokenizer);
/// The same for a text whose every token but the first and the ignored ones is scored.
std::optional<double> bytes_per_token(const data::TokenSequence& tokens, const data::Tokenizer& tokenizer);

}  // namespace cladtorch::train
