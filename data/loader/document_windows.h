// Windows of T positions that hold whole documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cladtorch/data/token_sequence.h"

namespace cladtorch::data {

/// A document of n tokens is n - 1 pairs of a token and its target. One of more than T pairs is cut into
/// parts of T; each part goes into the window with the least room that still takes it, the longest parts
/// first (best fit decreasing: D. S. Johnson, "Near-optimal bin packing algorithms", 1973). Parts without a
/// scored target are left out. Room that stays is filled with token 0 and ignored targets.
class DocumentWindows {
 public:
  /// `who` is for messages: Error when the documents of `tokens` are not known, or have no pair.
  DocumentWindows(const char* who, TokenSequence tokens, int64_t time);

  size_t count() const { return ends_.size(); }
  /// Pairs in all windows.
  uint64_t tokens() const;
  /// Fills one window of T each.
  void copy(size_t window, std::span<int32_t> tokens, std::span<int32_t> targets) const;

 private:
  struct Part {
    uint64_t start = 0;   // its first token
    uint64_t length = 0;  // pairs, at most T
  };
  std::vector<Part> cut(size_t time) const;
  void pack(const std::vector<Part>& parts, size_t time);

  TokenSequence tokens_;
  std::vector<Part> parts_;     // window by window
  std::vector<uint64_t> ends_;  // of each window's parts
};

}  // namespace cladtorch::data
