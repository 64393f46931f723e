// The merges of a byte pair encoding and how they turn symbols into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cladtorch::data::bpe {

struct Merge {
  int32_t left, right, result;
};

class MergeTable {
 public:
  MergeTable() = default;
  /// `merges` in the order in which they were learned, the first one first. Where a pair stands twice, the
  /// later one counts.
  explicit MergeTable(const std::vector<Merge>& merges);

  /// Joins the pair learned first, the leftmost of them, until none is left (Sennrich et al. 2016,
  /// https://arxiv.org/abs/1508.07909). O(n log n) for a long row, in
  /// little more memory than its own.
  void apply(std::vector<int32_t>& symbols) const;

 private:
  struct Slot {
    uint64_t pair = empty;
    uint32_t rank = no_rank;
    int32_t result = -1;
  };
  static constexpr uint64_t empty = ~uint64_t{0};
  static constexpr uint32_t no_rank = std::numeric_limits<uint32_t>::max();

  static uint64_t key(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }
  size_t start(uint64_t pair) const { return (pair * 0x9e3779b97f4a7c15u) >> shift_; }
  const Slot& find(int32_t left, int32_t right) const {
    const uint64_t pair = key(left, right);
    size_t at = start(pair);
    while (slots_[at].pair != pair && slots_[at].pair != empty) at = (at + 1) & mask_;
    return slots_[at];
  }
  void apply_short(std::vector<int32_t>& symbols) const;
  void apply_long(std::vector<int32_t>& symbols) const;
  class Joiner;

  size_t ranks_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(2);
  size_t mask_ = 1;
  int shift_ = 63;
};

}  // namespace cladtorch::data::bpe
