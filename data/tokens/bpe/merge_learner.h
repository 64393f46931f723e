// Finds the merges of a byte pair encoding.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokens/bpe/merge_table.h"

namespace cladtorch::data::bpe {

/// Words as rows of symbols, the pairs of neighbours in them, and how often each pair occurs.
class MergeLearner {
 public:
  /// `names`: the symbols that exist, as they are written; new ones are added behind them.
  explicit MergeLearner(std::vector<std::string> names);

  void add_word(const std::vector<int32_t>& symbols, uint64_t count);

  /// Merges the most frequent pair, if it occurs `min_frequency` times and at least once. False when there is
  /// none.
  bool merge_next(int64_t min_frequency);

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  struct Pair {
    int32_t left, right;
    auto operator<=>(const Pair&) const = default;
  };
  struct PairHash {
    size_t operator()(const Pair& pair) const {
      const uint64_t both =
          uint64_t{static_cast<uint32_t>(pair.left)} << 32 | static_cast<uint32_t>(pair.right);
      return (both ^ both >> 29) * 0x9e3779b97f4a7c15u >> 7;
    }
  };
  struct Use {
    int64_t count = 0;
    std::vector<uint32_t> words;  // in which it occurs, or did
  };
  struct Word {
    size_t begin;
    uint32_t length;
    int64_t count;
  };
  /// What was counted once; looked up again when its turn comes.
  struct Candidate {
    int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : other.pair < pair;
    }
  };

  void start();
  int32_t symbol_for(const Pair& pair);
  void merge_in_word(uint32_t number, const Pair& pair, int32_t merged);
  void add_use(const Pair& pair, uint32_t word, int64_t count);

  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<Merge> merges_;
  std::vector<int32_t> symbols_;  // of all words
  std::vector<Word> words_;
  std::unordered_map<Pair, Use, PairHash> uses_;
  std::vector<Pair> grown_;  // by the merge that is being done
  std::priority_queue<Candidate> queue_;
  bool started_ = false;
};

}  // namespace cladtorch::data::bpe
