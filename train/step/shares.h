// Which rank updates which parameters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/tensor_list.h"

namespace cladtorch::train {

/// float32 elements of a bucket of so many megabytes.
inline int64_t elements_of_bucket(double megabytes) {
  return static_cast<int64_t>(megabytes * 1e6 / sizeof(float));
}

/// Divides the pieces of a list of parameters into buckets of consecutive ones, the last pieces first, as a
/// backward pass computes their gradients, and deals each bucket to ranks: each gets consecutive pieces,
/// about as many elements as the others. A bucket is what ranks exchange at once.
class Shares {
 public:
  /// A bucket has no fewer than `bucket_elements`, and no fewer pieces than there are ranks, if there are so
  /// many.
  Shares(const TensorList& parameters, int ranks, int64_t bucket_elements);

  size_t buckets() const { return first_piece_.size(); }
  /// The first piece of a rank in a bucket, and the first that is not its own any more.
  std::pair<size_t, size_t> pieces(size_t bucket, int rank) const {
    const std::vector<size_t>& first = first_piece_[bucket];
    return {first[static_cast<size_t>(rank)], first[static_cast<size_t>(rank) + 1]};
  }
  /// The first piece of a bucket, and the first of the one before it.
  std::pair<size_t, size_t> pieces(size_t bucket) const {
    return {first_piece_[bucket].front(), first_piece_[bucket].back()};
  }
  /// All pieces of a rank, in order.
  const std::vector<size_t>& pieces(int rank) const { return pieces_[static_cast<size_t>(rank)]; }
  /// Elements of one tensor.
  struct Run {
    size_t tensor;
    int64_t begin, end;
  };
  /// The elements of a rank, in order.
  const std::vector<Run>& runs(int rank) const { return runs_[static_cast<size_t>(rank)]; }

  /// Each rank has its share of `tensors`, which match the parameters; then all have all.
  void gather(comm::Communicator& ranks, TensorList& tensors, const std::string& what) const;
  /// One of them, with the shares of all ranks, on the first rank; nothing on the others.
  Tensor on_first(comm::Communicator& ranks, const Tensor& values, size_t tensor,
                  const std::string& what) const;

 private:
  std::vector<std::vector<size_t>> first_piece_;  ///< of each bucket, for each rank, and the end
  std::vector<std::vector<size_t>> pieces_;       ///< of each rank
  std::vector<std::vector<Run>> runs_;
};

}  // namespace cladtorch::train
