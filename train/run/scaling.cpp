#include "train/run/scaling.h"

#include <algorithm>

#include "cladtorch/train/plan.h"
#include "train/bench/bench_step.h"
#include "train/report/report_tables.h"

namespace cladtorch::train {
namespace {

/// The report plans for no more ranks.
constexpr int64_t most_planned_ranks = 64;
constexpr int passes = 3;

/// At which the weights are read, in bytes per second; the best of a few.
double memory_bandwidth(const TensorList& weights) {
  const double bytes = static_cast<double>(weights.numel()) * static_cast<double>(size_of(weights.dtype()));
  double best = 0;
  for (int i = 0; i < passes; ++i) best = std::max(best, 1e3 * bytes / milliseconds([&] { weights.norm(); }));
  return best;
}

}  // namespace

Table plan_of_more_ranks(const TrainConfig& config, const Trainer& trainer, const comm::Communicator& ranks,
                         double peak_flops, const std::vector<StepRecord>& records) {
  const TrainConfig::Train& train = config.train;
  const double rate = median_rate(records);
  const bool planned = config.run.device == "cpu" && config.run.dtype != "fp8" && config.lora.rank == 0 &&
                       train.freeze.empty() && train.train_only.empty();
  const auto most = static_cast<int>(std::min(train.accumulate, most_planned_ranks));
  if (!planned || !(rate > 0) || most < 2) return {};
  RunSpeed speed{.ranks = ranks.size(),
                 .per_node = 0,
                 .peak_flops = peak_flops,
                 .memory_bandwidth = memory_bandwidth(trainer.weights()),
                 .tokens_per_second = rate};
  for (int rank = 0; rank < ranks.size(); ++rank) speed.per_node += ranks.host(rank) == ranks.host(0) ? 1 : 0;
  const PlanMachine machine = machine_of_run(trainer.master(), config, speed);
  TrainConfig more = config;
  if (train.leaves < most) more.train.leaves = 0;  // each number of ranks gets those that it needs
  const auto tokens = static_cast<double>(trainer.state().steps * trainer.tokens_per_step());
  return scaling_table(make_plans(trainer.master(), more, most, machine), tokens);
}

}  // namespace cladtorch::train
