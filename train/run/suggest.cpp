#include "cladtorch/train/suggest.h"

#include <algorithm>
#include <numeric>

namespace cladtorch::train {
namespace {

/// Levenshtein distance.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  size_t best = word.size() / 4 + 2;  // as many edits make another word, not a slip
  std::string found;
  for (const std::string& candidate : known) {
    // The last part alone also counts: 'lr' means 'optimizer.lr'.
    const std::string_view last = std::string_view(candidate).substr(candidate.rfind('.') + 1);
    const size_t distance = std::min(edits(word, last), edits(word, candidate));
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string found = closest(word, known);
  return found.empty() ? "" : " (did you mean '" + found + "'?)";
}

std::string enumeration(const std::vector<std::string>& words, std::string_view conjunction) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " " + std::string(conjunction) + " ";
    text += words[i];
  }
  return text;
}

}  // namespace cladtorch::train
