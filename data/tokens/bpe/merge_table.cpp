#include "data/tokens/bpe/merge_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace cladtorch::data::bpe {
namespace {

/// Symbols up to which looking at every pair for each merge is faster than a heap.
constexpr size_t most_for_short = 128;

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges) {
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

void MergeTable::apply_long(std::vector<int32_t>& symbols) const {
  constexpr uint32_t none = no_rank;
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> next(count), previous(count), ranks(count, none);
  // Smallest rank first, then the leftmost place. An entry counts only while `ranks` still says the same.
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> queue;
  const auto look = [&](uint32_t i) {
    ranks[i] = next[i] == none ? none : find(symbols[i], symbols[next[i]]).rank;
    if (ranks[i] != none) queue.push(uint64_t{ranks[i]} << 32 | i);
  };
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : none;
    previous[i] = i > 0 ? i - 1 : none;
  }
  for (uint32_t i = 0; i < count; ++i) look(i);
  while (!queue.empty()) {
    const auto i = static_cast<uint32_t>(queue.top());
    const auto rank = static_cast<uint32_t>(queue.top() >> 32);
    queue.pop();
    if (ranks[i] != rank) continue;
    const uint32_t right = next[i];
    symbols[i] = find(symbols[i], symbols[right]).result;
    ranks[right] = none;
    next[i] = next[right];
    if (next[i] != none) previous[next[i]] = i;
    symbols[right] = -1;
    look(i);
    if (previous[i] != none) look(previous[i]);
  }
  std::erase(symbols, -1);
}

}  // namespace cladtorch::data::bpe
