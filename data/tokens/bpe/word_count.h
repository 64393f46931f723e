// The words of a text and how often each occurs.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "cladtorch/data/bpe_trainer.h"
#include "data/tokens/bpe/scanner.h"

namespace cladtorch::data::bpe {

using WordCounts = std::unordered_map<std::string, uint64_t>;

/// Counts on options.threads threads; the result does not depend on how many there are.
WordCounts count_words(const TextFiles& text, const Scanner& scanner, const BpeTrainingOptions& options);

}  // namespace cladtorch::data::bpe
