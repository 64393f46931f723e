#include "train/step/leaves.h"

#include <algorithm>
#include <bit>

namespace cladtorch::train {

int64_t Leaves::middle() const {
  return begin + static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count() - 1)));
}

std::vector<Leaves> nodes_within(const Leaves& all, const Leaves& part) {
  if (part.begin <= all.begin && all.end <= part.end) return {all};
  if (part.end <= all.begin || all.end <= part.begin) return {};
  std::vector<Leaves> nodes = nodes_within({all.begin, all.middle()}, part);
  const std::vector<Leaves> right = nodes_within({all.middle(), all.end}, part);
  nodes.insert(nodes.end(), right.begin(), right.end());
  return nodes;
}

LeafPlan::LeafPlan(int64_t leaves, int ranks, bool early)
    : leaves_(leaves), ranks_(ranks), early_(early && ranks > 1) {}

std::vector<int64_t> LeafPlan::of_rank(int rank) const {
  std::vector<int64_t> own;
  const int64_t begin = early_ ? rank : leaves_ * rank / ranks_;
  const int64_t end = early_ ? leaves_ : leaves_ * (rank + 1) / ranks_;
  for (int64_t leaf = begin; leaf < end; leaf += early_ ? ranks_ : 1) own.push_back(leaf);
  return own;
}

std::vector<Leaves> LeafPlan::sent(int rank, int64_t round) const {
  if (!early_) return nodes_within(all(), {leaves_ * rank / ranks_, leaves_ * (rank + 1) / ranks_});
  const int64_t leaf = round * ranks_ + rank;
  return leaf < leaves_ ? std::vector{Leaves{leaf, leaf + 1}} : std::vector<Leaves>{};
}

std::vector<Leaves> LeafPlan::before(int64_t round) const {
  if (round == 0) return {};
  return nodes_within(all(), {0, round == rounds() ? leaves_ : round * ranks_});
}

}  // namespace cladtorch::train
