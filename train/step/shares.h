// Which rank updates which parameters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/tensor_list.h"

namespace cladtorch::train {

/// Deals the pieces of a list of parameters to ranks: each gets consecutive ones, about as many elements as
/// the others.
class Shares {
 public:
  Shares(const TensorList& parameters, int ranks);

  /// The first piece of a rank, and the first that is not its own any more.
  std::pair<size_t, size_t> pieces(int rank) const;
  /// Elements of one tensor.
  struct Run {
    size_t tensor;
    int64_t begin, end;
  };
  const std::vector<Run>& runs(int rank) const { return runs_[static_cast<size_t>(rank)]; }

  /// Each rank has its share of `tensors`, which match the parameters; then all have all.
  void gather(comm::Communicator& ranks, TensorList& tensors, const std::string& what) const;
  /// One of them, with the shares of all ranks, on the first rank; nothing on the others.
  Tensor on_first(comm::Communicator& ranks, const Tensor& values, size_t tensor,
                  const std::string& what) const;

 private:
  std::vector<size_t> first_piece_;  ///< of each rank, and the number of pieces
  std::vector<std::vector<Run>> runs_;
};

}  // namespace cladtorch::train
