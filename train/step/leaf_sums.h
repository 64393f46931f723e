// The gradient of a step as a sum over leaves, in an order that does not depend on how many ranks there are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/tensor_list.h"
#include "train/step/shares.h"

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

/// Those of one of `ranks` ranks, of which there are no more than `leaves`.
Leaves leaves_of(int rank, int ranks, int64_t leaves);
/// The nodes of the tree over `all` that lie in `part`, the largest ones, in order: what a rank with these
/// leaves can add without the others.
std::vector<Leaves> nodes_within(const Leaves& all, const Leaves& part);

/// The sum of all ranks' values, one after the other in the order of the ranks.
double sum_in_order(comm::Communicator& ranks, std::span<const double> values, const std::string& what);

/// Adds the gradients of leaves. Each rank adds what it can of its own; then the ranks exchange these sums,
/// and each adds those of its share. The bits are those of one rank that has all leaves.
class LeafSums {
 public:
  /// Each leaf is computed in `gradients`, which lie in the float32 `memory` on the CPU.
  LeafSums(comm::Communicator& ranks, int64_t leaves, TensorList& gradients, const Tensor& memory,
           const Shares& shares);

  const Leaves& mine() const { return mine_; }
  /// The gradients are those of the next leaf of this rank; if it is not the last, they are marked zero for
  /// the next.
  void end_leaf();
  /// After the last: the gradients become the sum over all leaves, on each rank those of its share, or if
  /// `whole`, all.
  void finish(bool whole, const std::string& what);
  /// Forgets what was added.
  void clear();
  /// Memory that it holds beside the gradients'.
  size_t bytes() const;

 private:
  /// A sum that waits for its neighbour. The last of a rank's sums stays in the memory of the gradients.
  struct Node {
    Leaves leaves;
    std::vector<float> sum;
  };
  void write_zeros();
  void exchange(const std::string& what);
  void gather(const std::string& what);

  comm::Communicator& ranks_;
  Leaves all_, mine_;
  TensorList& gradients_;
  Tensor memory_;
  std::vector<int64_t> begin_;              ///< in the memory, of each rank's share, and the end
  int64_t next_;                            ///< leaf
  std::vector<Node> pending_;               ///< in order
  std::vector<std::vector<float>> unused_;  ///< memory of nodes
  std::vector<std::vector<Leaves>> nodes_;  ///< of each rank
  std::vector<std::vector<float>> received_;
};

}  // namespace cladtorch::train
