// Leaves: the parts of a step whose gradients are added in an order that does not depend on the ranks.
#pragma once

#include <cstdint>
#include <vector>

namespace cladtorch::train {

/// Leaves begin to end - 1. A leaf is some consecutive micro-batches of a step, whose gradients are added one
/// after the other. The sum over leaves is that of a tree: sum(a, b) = sum(a, m) + sum(m, b), where m - a is
/// the largest power of two below b - a.
struct Leaves {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  /// Where the tree over these divides them; there are at least two.
  int64_t middle() const;
  friend bool operator==(const Leaves&, const Leaves&) = default;
};

/// The nodes of the tree over `all` that lie in `part`, the largest ones, in order: what can be added by who
/// has these leaves.
std::vector<Leaves> nodes_within(const Leaves& all, const Leaves& part);

/// How the leaves of a step are dealt to ranks, of which there are no more than leaves, and in how many
/// rounds the ranks exchange gradients.
class LeafPlan {
 public:
  /// Each rank has consecutive leaves, and adds what it can of them before the one exchange; or, if `early`,
  /// the ranks take turns and exchange each leaf, so that nobody keeps a sum of a whole gradient.
  LeafPlan(int64_t leaves, int ranks, bool early);

  bool is_early() const { return early_; }
  Leaves all() const { return {0, leaves_}; }
  int64_t rounds() const { return early_ ? (leaves_ + ranks_ - 1) / ranks_ : 1; }
  /// In order.
  std::vector<int64_t> of_rank(int rank) const;
  /// The sums that a rank sends in a round, in order.
  std::vector<Leaves> sent(int rank, int64_t round) const;
  /// The sums over what was exchanged in the rounds before this one.
  std::vector<Leaves> before(int64_t round) const;

 private:
  int64_t leaves_;
  int ranks_;
  bool early_;
};

}  // namespace cladtorch::train
