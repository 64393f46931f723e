// The parameters that other ranks have updated.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/tensor_list.h"
#include "train/step/background.h"
#include "train/step/shares.h"

namespace cladtorch::train {

/// Sends each rank's share of the parameters to all others while they begin the next forward pass. Who reads
/// a parameter that is on its way waits for it.
class ParameterGather final : private TensorArrival {
 public:
  /// Of `parameters` on the CPU, in jobs of `background`; while there are any, `ranks` are not used
  /// elsewhere.
  ParameterGather(comm::Communicator& ranks, const TensorList& parameters, const Shares& shares,
                  Background& background);
  ParameterGather(const ParameterGather&) = delete;
  ParameterGather& operator=(const ParameterGather&) = delete;
  /// `background` does none of its jobs any more.
  ~ParameterGather() override;

  /// Each rank has updated its share; the others' are brought, what a forward pass reads first before the
  /// rest.
  void begin();
  /// How long others waited for parameters since the last call, in seconds.
  double take_waited() { return waited_.exchange(0); }

 private:
  void wait_for(size_t tensor) override;
  void exchange(size_t bucket);

  comm::Communicator& ranks_;
  TensorList parameters_;
  const Shares& shares_;
  Background& background_;
  std::vector<std::vector<size_t>> completed_;  ///< by each bucket: tensors of which it brings the last part
  std::vector<std::byte*> data_;                ///< of each tensor
  std::vector<int64_t> jobs_;                   ///< of each tensor, the one that completes it
  std::atomic<double> waited_ = 0;
};

}  // namespace cladtorch::train
