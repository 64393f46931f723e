#include "data/tokens/bpe/merge_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace cladtorch::data::bpe {
namespace {

/// Symbols up to which looking at every pair for each merge is faster than a heap.
constexpr size_t most_for_short = 128;

/// Symbols up to which all pairs stand in one queue. It takes eight bytes for each pair, so of longer rows
/// the smallest ranks are joined first, an eighth of the pairs at a time.
constexpr size_t most_for_one_queue = size_t{1} << 20;

/// A row of tokens, joined in place. Of a token that stands where several stood before, the first place holds
/// the token, the second and the last hold its length, negative, and those between are negative too.
class Row {
 public:
  explicit Row(std::vector<int32_t>& places) : places_(places) {}

  size_t size() const { return places_.size(); }
  bool begins_token(size_t i) const { return places_[i] >= 0; }
  int32_t token(size_t i) const { return places_[i]; }
  size_t next(size_t i) const {
    return i + 1 < size() && places_[i + 1] < 0 ? i + static_cast<size_t>(-places_[i + 1]) : i + 1;
  }
  size_t previous(size_t i) const {
    return places_[i - 1] < 0 ? i - static_cast<size_t>(-places_[i - 1]) : i - 1;
  }
  /// Makes the token at `i` and the next one `token`.
  void join(size_t i, int32_t token) {
    const size_t right = next(i), end = next(right);
    places_[i] = token;
    places_[right] = -1;
    places_[i + 1] = places_[end - 1] = -static_cast<int32_t>(end - i);
  }

 private:
  std::vector<int32_t>& places_;
};

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges) : ranks_(merges.size()) {
  const size_t size = std::bit_ceil(2 * merges.size() + 2);
  slots_.assign(size, Slot{});
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const uint64_t pair = key(merges[rank].left, merges[rank].right);
    size_t at = start(pair);
    while (slots_[at].pair != pair && slots_[at].pair != empty) at = (at + 1) & mask_;
    slots_[at] = {pair, static_cast<uint32_t>(rank), merges[rank].result};
  }
}

void MergeTable::apply(std::vector<int32_t>& symbols) const {
  if (symbols.size() < 2) return;
  if (symbols.size() <= most_for_short) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void MergeTable::apply_short(std::vector<int32_t>& symbols) const {
  std::array<uint32_t, most_for_short> ranks;  // of the pair that begins at each place
  std::array<int32_t, most_for_short> results;
  size_t count = symbols.size();
  int32_t* s = symbols.data();
  const auto look = [&](size_t i) {
    const Slot& slot = find(s[i], s[i + 1]);
    ranks[i] = slot.rank;
    results[i] = slot.result;
  };
  for (size_t i = 0; i + 1 < count; ++i) look(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == no_rank) break;
    s[best] = results[best];
    std::copy(s + best + 2, s + count, s + best + 1);
    if (best + 2 < count) {
      std::copy(ranks.begin() + best + 2, ranks.begin() + count - 1, ranks.begin() + best + 1);
      std::copy(results.begin() + best + 2, results.begin() + count - 1, results.begin() + best + 1);
    }
    --count;
    if (best > 0) look(best - 1);
    if (best + 1 < count) look(best);
  }
  symbols.resize(count);
}

/// Joins what is in a queue, smallest rank first, then the leftmost place, as far as `last`: pairs of higher
/// ranks, also new ones, stay out.
class MergeTable::Joiner {
 public:
  /// With `remember`, four bytes for each symbol save looking for pairs that have changed.
  Joiner(const MergeTable& table, std::vector<int32_t>& symbols, bool remember)
      : table_(table), row_(symbols), ranks_(remember ? symbols.size() : 0, no_rank) {}

  void join_up_to(uint32_t last) {
    last_ = last;
    for (size_t i = 0; i < row_.size(); i = row_.next(i)) look(i);
    join_queued();
  }

  /// The same for pairs of one rank below which there are none: each is joined where it is found, so that the
  /// queue does not hold them all.
  void join_rank(uint32_t rank) {
    last_ = rank;
    for (size_t i = 0; i < row_.size(); i = row_.next(i)) {
      look(i);
      if (queue_.empty()) continue;
      join_queued();
      while (!row_.begins_token(i)) --i;  // the token before may have taken it
    }
  }

  /// How many pairs there are of each rank below `ranks`.
  std::vector<uint32_t> count_ranks(size_t ranks) const {
    std::vector<uint32_t> counts(ranks);
    for (size_t i = 0; i < row_.size(); i = row_.next(i)) {
      if (const uint32_t rank = pair_at(i).rank; rank != no_rank) ++counts[rank];
    }
    return counts;
  }

 private:
  const Slot& pair_at(size_t i) const {
    static constexpr Slot none{};
    const size_t next = row_.next(i);
    return next < row_.size() ? table_.find(row_.token(i), row_.token(next)) : none;
  }

  void look(size_t i) {
    const uint32_t rank = pair_at(i).rank;
    if (!ranks_.empty()) ranks_[i] = rank;
    if (rank <= last_) queue_.push(uint64_t{rank} << 32 | i);
  }

  void join_queued() {
    while (!queue_.empty()) {
      const auto i = static_cast<size_t>(queue_.top() & 0xffffffffu);
      const auto rank = static_cast<uint32_t>(queue_.top() >> 32);
      queue_.pop();
      if (ranks_.empty() ? !row_.begins_token(i) : ranks_[i] != rank) continue;
      const Slot& pair = pair_at(i);
      if (pair.rank != rank) continue;  // one of the two has changed since
      if (!ranks_.empty()) ranks_[row_.next(i)] = no_rank;
      row_.join(i, pair.result);
      look(i);
      if (i > 0) look(row_.previous(i));
    }
  }

  const MergeTable& table_;
  Row row_;
  std::vector<uint32_t> ranks_;  // of the pair that begins at each place, or nothing
  uint32_t last_ = 0;
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> queue_;
};

void MergeTable::apply_long(std::vector<int32_t>& symbols) const {
  const bool one_queue = symbols.size() <= most_for_one_queue;
  Joiner joiner(*this, symbols, one_queue);
  if (one_queue) {
    joiner.join_up_to(no_rank - 1);
  } else {
    const uint64_t most = symbols.size() / 8;
    for (;;) {
      const std::vector<uint32_t> counts = joiner.count_ranks(ranks_);
      const auto first = std::ranges::find_if(counts, [](uint32_t count) { return count > 0; });
      if (first == counts.end()) break;
      auto end = first;
      for (uint64_t pairs = 0; end != counts.end() && (pairs += *end) <= most;) ++end;
      const auto rank = static_cast<uint32_t>(first - counts.begin());
      if (end == first) {
        joiner.join_rank(rank);
      } else {
        joiner.join_up_to(static_cast<uint32_t>(end - counts.begin()) - 1);
      }
    }
  }
  std::erase_if(symbols, [](int32_t symbol) { return symbol < 0; });
}

}  // namespace cladtorch::data::bpe
