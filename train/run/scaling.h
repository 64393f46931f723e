// What the updates of a run would take on more ranks, for its report.
#pragma once

#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/train/run_log.h"
#include "cladtorch/train/table.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// The plans for as many ranks as an update has micro-batches, from the speed of `records`, the steps that
/// `ranks` have done, each with up to `peak_flops`. Empty where a plan cannot be made.
Table plan_of_more_ranks(const TrainConfig& config, const Trainer& trainer, const comm::Communicator& ranks,
                         double peak_flops, const std::vector<StepRecord>& records);

}  // namespace cladtorch::train
