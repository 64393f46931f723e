#include "cladtorch/train/suggest.h"

#include <algorithm>
#include <numeric>

namespace cladtorch::train {
namespace {

/// Levenshtein distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  std::size_t best = word.size() / 4 + 2;  // as many edits make another word, not a slip
  std::string found;
  for (const std::string& candidate : known) {
    // The last part alone also counts: 'lr' means 'optimizer.lr'.
    const std::string_view last = std::string_view(candidate).substr(candidate.rfind('.') + 1);
    const std::size_t distance = last == word ? 0 : edits(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found.empty() ? "" : " (did you mean '" + found + "'?)";
}

}  // namespace cladtorch::train
