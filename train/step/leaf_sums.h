// The gradient of a step as a sum over leaves, in an order that does not depend on how many ranks there are.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/tensor_list.h"
#include "train/step/background.h"
#include "train/step/leaves.h"
#include "train/step/shares.h"

namespace cladtorch::train {

/// The sum of all ranks' values, one after the other in the order of the ranks.
double sum_in_order(comm::Communicator& ranks, std::span<const double> values, const std::string& what);

/// Adds the gradients of leaves. Each rank computes some; the ranks exchange them bucket by bucket, and each
/// adds those of its share. The bits are those of one rank that has all leaves.
///
/// When a bucket is complete is learned from the micro-batches before: each contributes equally often to each
/// gradient.
class LeafSums final : private GradientListener {
 public:
  /// Each leaf is computed in `gradients`, which lie in the float32 `memory` on the CPU. With `overlap` they
  /// are sent while a backward pass computes the rest; no number depends on that. The ranks exchange them in
  /// jobs of `background`; while there are any, `ranks` are not used elsewhere.
  LeafSums(comm::Communicator& ranks, const LeafPlan& plan, TensorList& gradients, const Tensor& memory,
           const Shares& shares, bool overlap, Background& background);
  ~LeafSums() override;

  /// The leaves of this rank, in order.
  std::span<const int64_t> mine() const { return mine_; }
  /// A micro-batch begins whose gradients are dropped.
  void begin_plan();
  /// The next one begins, the last of its leaf or not.
  void begin(bool ends_leaf);
  /// The gradients are those of the next leaf of this rank. They are marked zero for the next.
  void end_leaf();
  /// After the last: the gradients become the sum over all leaves, on each rank those of its share, or if
  /// `whole`, all.
  void finish(bool whole);

  /// How long the last finish() waited for other ranks, in seconds.
  double waited() const { return waited_; }
  /// Memory that it holds beside the gradients'.
  size_t bytes() const;

 private:
  /// A sum that waits for its neighbour. The last of a rank's sums stays in the memory of the gradients.
  struct Node {
    Leaves leaves;
    std::vector<float> sum;
  };
  /// Elements of the memory.
  struct Range {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };

  void begins(size_t tensor) override;
  void written(size_t tensor) noexcept override;
  bool is_complete(size_t tensor) const;
  void learn();

  bool is_last_leaf() const { return done_leaves_ + 1 == static_cast<int64_t>(mine_.size()); }
  void keep_leaf();
  void take_neighbours(Leaves node);
  void end_round();
  void add_neighbours(size_t bucket);
  void complete_bucket();
  void exchange(size_t bucket, int64_t round);
  const float* sum_of(size_t k) const;
  void gather();
  void release(const Range& range);
  Range range(size_t bucket) const { return {bounds_[bucket].front(), bounds_[bucket].back()}; }
  Range part(size_t bucket, int rank) const {
    const auto i = static_cast<size_t>(rank);
    return {bounds_[bucket][i], bounds_[bucket][i + 1]};
  }

  comm::Communicator& ranks_;
  LeafPlan plan_;
  bool overlap_;  ///< between ranks
  std::vector<int64_t> mine_;
  TensorList& gradients_;
  Tensor memory_;
  float* elements_ = nullptr;                 ///< of the memory, if there are several leaves
  std::vector<std::vector<int64_t>> bounds_;  ///< of each bucket in the memory: each rank's part, and the end
  std::vector<size_t> share_offset_;          ///< of each bucket in the share of this rank
  size_t share_elements_ = 0;
  std::vector<std::vector<size_t>> tensors_;        ///< of each bucket
  std::vector<std::pair<size_t, size_t>> buckets_;  ///< of each tensor: the first and the last

  // Contributions to each tensor in this micro-batch, and in those before at most.
  std::vector<int> writing_, seen_, expected_;
  bool planning_ = false;
  bool live_ = false;         ///< buckets of this micro-batch are exchanged when they are complete
  std::vector<size_t> open_;  ///< of each bucket: tensors that are not complete

  int64_t done_leaves_ = 0;
  std::vector<Node> pending_;               ///< in order
  std::vector<std::vector<float>> merged_;  ///< sums to which the last leaf is added, in this order
  std::vector<std::vector<float>> unused_;  ///< memory of nodes
  int64_t round_ = 0;
  size_t next_bucket_ = 0;     ///< of this round, to be exchanged
  std::vector<int64_t> jobs_;  ///< of each bucket, the last exchange

  std::vector<std::vector<float>> received_, levels_;  ///< levels: sums of this rank's share between rounds
  double waited_ = 0;
  Background& background_;
};

}  // namespace cladtorch::train
