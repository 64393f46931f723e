// Which rank updates which parameters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
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

/// Elements of one tensor.
struct Run {
  size_t tensor;
  int64_t begin, end;
  friend bool operator==(const Run&, const Run&) = default;
};

/// Their bytes, of a tensor whose first is `data`.
inline std::span<std::byte> bytes_of(std::byte* data, DType dtype, const Run& run) {
  const size_t element = size_of(dtype);
  return {data + static_cast<size_t>(run.begin) * element,
          static_cast<size_t>(run.end - run.begin) * element};
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
  /// The elements of a rank in a bucket, in order.
  const std::vector<Run>& runs(size_t bucket, int rank) const {
    return runs_[bucket][static_cast<size_t>(rank)];
  }
  /// All elements of a rank, in order.
  std::vector<Run> runs(int rank) const;

  /// `whole` on the first rank gets all of one tensor, of which each rank has its share in `values`; the two
  /// may be the same. The other ranks need no `whole`. Communicator::wait() knows `what` and `cancelled`.
  void collect(comm::Communicator& ranks, Tensor values, Tensor whole, size_t tensor, const std::string& what,
               const std::atomic<bool>* cancelled) const;

 private:
  std::vector<std::vector<size_t>> first_piece_;     ///< of each bucket, for each rank, and the end
  std::vector<std::vector<size_t>> pieces_;          ///< of each rank
  std::vector<std::vector<std::vector<Run>>> runs_;  ///< of each bucket, for each rank
};

}  // namespace cladtorch::train
