// The best that any model can do inside a window: exact inference for a reader who knows the grammar but not
// the past.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cladtorch/data/grammar.h"

namespace cladtorch::data {

/// Predicts a window cut at a uniformly random byte out of an endless stream of a grammar's texts. The
/// entropy of the stream is the loss of a reader who has seen everything before; this is the loss of one who
/// has seen only the window.
class IdealPredictor {
 public:
  /// Keeps a reference: `grammar` must outlive the predictor.
  explicit IdealPredictor(const Grammar& grammar);

  /// -log P(byte j | bytes 0 .. j-1 of the window) in nats, for every j. Throws Error at a byte that no
  /// stream of texts could hold there.
  std::vector<double> surprises(std::string_view window) const;

  /// Mean of `surprises` at each place of windows of `size` bytes, over `samples` random windows.
  std::vector<double> mean_surprises(size_t size, size_t samples, uint64_t seed) const;

 private:
  friend class Beliefs;
  struct Site {
    uint32_t parent;
    uint32_t place;      // among the parent's children
    double probability;  // that an occurrence of the node is this one
  };

  const Grammar& grammar_;
  std::vector<double> occurrences_;            // expected number of each node in one text
  std::vector<std::vector<Site>> sites_;       // where each node occurs
  std::vector<std::bitset<256>> first_bytes_;  // with which a node's texts can begin
  std::vector<bool> nullable_;                 // whether a node's text can be empty
};

}  // namespace cladtorch::data
