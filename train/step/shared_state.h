// What an optimizer keeps, of which each rank has its share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/optimizer.h"
#include "train/step/shares.h"

namespace cladtorch::train {

/// Lets the first rank read the state of an optimizer, and the float32 masters of bfloat16 parameters, tensor
/// by tensor from the ranks that have them.
class SharedState final : private TensorArrival {
 public:
  /// Each rank updates its share on the CPU. Masters of bfloat16 parameters give the memory of what others
  /// update back to the system. What waits for other ranks ends when `cancelled` is set.
  SharedState(comm::Communicator& ranks, Optimizer& optimizer, const Shares& shares,
              const std::atomic<bool>& cancelled);

  /// Called by all ranks at the same time: the first does `read`, in which all masters may be read by their
  /// tensors, one after the other, and whole() be called.
  void read(const std::function<void()>& read);
  /// A tensor of the optimizer's state.
  Tensor whole(const TensorList& state, size_t tensor);

 private:
  void wait_for(size_t master) override;
  void ask(int64_t list, int64_t tensor);
  void serve();
  /// Of the masters, memory that other ranks' shares take here.
  void release(size_t master);
  std::vector<const TensorList*> lists() const;

  comm::Communicator& ranks_;
  Optimizer& optimizer_;
  const Shares& shares_;
  const std::atomic<bool>& cancelled_;
  TensorList masters_;
  bool has_masters_;                   ///< that are not the parameters
  std::vector<std::vector<Run>> own_;  ///< of each master
  std::optional<size_t> read_;         ///< the master that is whole at the moment
};

}  // namespace cladtorch::train
