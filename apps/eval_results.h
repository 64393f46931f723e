// What `cladtorch eval` found, for a person or a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cladtorch/train/evaluate.h"
#include "cladtorch/train/multiple_choice.h"

namespace cladtorch::apps {

struct TextResult {
  std::string data;  ///< path
  train::Evaluation evaluation;
  std::optional<double> bytes_per_token{};
};

struct ChoiceResult {
  std::string data;
  train::ChoiceEvaluation evaluation;
};

struct EvalResults {
  std::vector<TextResult> texts;
  std::vector<ChoiceResult> choices;
};

/// A table of each kind, as far as there are any.
std::string to_text(const EvalResults& results);
/// {"results": [...]} in the same order; null for what is not known.
std::string to_json(const EvalResults& results);

/// The same for token ids alone: "loss", "perplexity" and "tokens".
std::string to_text(const train::Evaluation& evaluation);
std::string to_json(const train::Evaluation& evaluation);

}  // namespace cladtorch::apps
