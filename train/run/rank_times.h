// How long each rank computes, and which one the others wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {

class RankTimes {
 public:
  /// What the ranks told with a step. Recent steps count most.
  void add(std::span<const RankWord> words);

  /// A rank that has computed longer than the others for some time.
  struct Straggler {
    int rank;
    double seconds, usual;  ///< for the gradient of a leaf: its own, and the median of all ranks
  };
  std::optional<Straggler> straggler() const;

  /// "rank 3 on node7 computes 1.4 times as long as the others, which wait for it: ..."; "" for none, and for
  /// the one that it named before.
  std::string news(const comm::Communicator& ranks);
  /// "4 ranks, which wait for each other 3 % of the time; ..."; "" for a rank that is alone.
  std::string summary(const comm::Communicator& ranks, double seconds_per_step) const;

 private:
  struct Means {
    double seconds = 0, waited = 0;
  };
  std::vector<Means> means_;  ///< of each rank
  int64_t steps_ = 0;
  int named_ = -1;
};

}  // namespace cladtorch::train
