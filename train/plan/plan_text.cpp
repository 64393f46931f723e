#include <fmt/format.h>

#include <cmath>

#include "cladtorch/train/plan.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/table.h"

namespace cladtorch::train {
namespace {

struct MemoryRow {
  const char *name, *key;
  double PlanMemory::* bytes;
};
constexpr MemoryRow memory_rows[] = {{"weights", "weights", &PlanMemory::weights},
                                     {"gradients", "gradients", &PlanMemory::gradients},
                                     {"waiting sums of leaves", "sums", &PlanMemory::sums},
                                     {"exchange", "exchange", &PlanMemory::exchange},
                                     {"optimizer", "optimizer", &PlanMemory::optimizer},
                                     {"activations", "activations", &PlanMemory::activations},
                                     {"saving", "saving", &PlanMemory::saving},
                                     {"program", "program", &PlanMemory::program}};

struct TimeRow {
  const char *name, *key;
  double PlanTime::* seconds;
};
constexpr TimeRow time_rows[] = {{"forward and backward", "compute", &PlanTime::compute},
                                 {"adding leaves", "sums", &PlanTime::sums},
                                 {"exchange, not hidden", "exchange", &PlanTime::exchange},
                                 {"update", "update", &PlanTime::update},
                                 {"gathering", "gather", &PlanTime::gathering},
                                 {"waiting for the slowest", "jitter", &PlanTime::jitter}};

std::string shown_seconds(double seconds) {
  if (seconds >= 10) return fmt::format("{:.1f} s", seconds);
  return seconds < 1e-4 ? "-" : fmt::format("{:.{}f} ms", 1e3 * seconds, seconds < 0.1 ? 1 : 0);
}
std::string shown_bytes(double bytes) { return bytes == 0 ? "-" : short_bytes(bytes); }

std::string shown_time(double seconds) {
  constexpr double day = 86400;
  return seconds < day ? short_duration(seconds) : fmt::format("{:.1f} days", seconds / day);
}
std::string shown_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// A row with one value of each stage.
template <class Shown>
void add(Table& table, std::string name, const Plan& plan, const Shown& shown) {
  std::vector<std::string> row = {std::move(name)};
  for (const StagePlan& stage : plan.stages) row.push_back(shown(stage));
  table.push_back(std::move(row));
}

Table table_of(const Plan& plan, double tokens) {
  Table table = {{"", "--zero 0", "--zero 1", "--zero 2"}};
  for (const MemoryRow& row : memory_rows)
    add(table, row.name, plan, [&](const StagePlan& stage) { return shown_bytes(stage.memory.*row.bytes); });
  add(table, "memory of a rank", plan,
      [](const StagePlan& stage) { return short_bytes(stage.memory.total()); });
  add(table, "sent by a rank", plan, [](const StagePlan& stage) { return shown_bytes(stage.sent); });
  for (const TimeRow& row : time_rows)
    add(table, row.name, plan,
        [&](const StagePlan& stage) { return shown_seconds(stage.time.*row.seconds); });
  add(table, "one update", plan, [](const StagePlan& stage) { return shown_seconds(stage.time.total()); });
  add(table, "tokens per second", plan,
      [](const StagePlan& stage) { return short_count(stage.tokens_per_second); });
  add(table, "MFU", plan, [](const StagePlan& stage) { return shown_percent(stage.mfu); });
  add(table, "efficiency", plan, [](const StagePlan& stage) { return shown_percent(stage.efficiency); });
  add(table, short_count(tokens) + " tokens take", plan,
      [&](const StagePlan& stage) { return shown_time(tokens / stage.tokens_per_second); });
  return table;
}

nlohmann::ordered_json stages_json(const Plan& plan, double tokens) {
  auto stages = nlohmann::ordered_json::array();
  for (size_t zero = 0; zero < plan.stages.size(); ++zero) {
    const StagePlan& stage = plan.stages[zero];
    nlohmann::ordered_json memory, time;
    for (const MemoryRow& row : memory_rows) memory[row.key] = stage.memory.*row.bytes;
    memory["total"] = stage.memory.total();
    for (const TimeRow& row : time_rows) time[row.key] = stage.time.*row.seconds;
    time["total"] = stage.time.total();
    stages.push_back({{"zero", zero},
                      {"memory", memory},
                      {"seconds", time},
                      {"sent", stage.sent},
                      {"tokens_per_second", stage.tokens_per_second},
                      {"mfu", stage.mfu},
                      {"efficiency", stage.efficiency},
                      {"run_seconds", tokens / stage.tokens_per_second},
                      {"limit", stage.limit}});
  }
  return stages;
}

/// A row for each stage; on one rank they are the same.
void add_scaling(Table& table, const Plan& plan, double tokens) {
  const size_t stages = plan.ranks == 1 ? 1 : plan.stages.size();
  for (size_t zero = 0; zero < stages; ++zero) {
    const StagePlan& stage = plan.stages[zero];
    table.push_back({zero == 0 ? std::to_string(plan.ranks) : "", std::to_string(zero),
                     short_bytes(stage.memory.total()), short_count(stage.tokens_per_second),
                     shown_percent(stage.mfu), shown_percent(stage.efficiency),
                     shown_time(tokens / stage.tokens_per_second), stage.limit});
  }
}

}  // namespace

std::string plan_text(const Plan& plan, double tokens) {
  const PlanMachine& machine = plan.machine;
  const TrainConfig::Train& train = plan.config.train;
  std::string text = fmt::format("model    {}, context {}, {}, {}\n", plan.model, plan.config.model.context,
                                 plan.config.run.dtype, plan.config.optimizer.kind);
  text += fmt::format(
      "rank     {}: {:.3g} TFLOP/s at its peak, of which {:.0f} % are reached; {} at {:.0f} GB/s\n",
      machine.name, machine.peak_flops / 1e12, 100 * machine.peak_share,
      machine.memory > 0 ? short_bytes(machine.memory) : "memory", machine.memory_bandwidth / 1e9);
  if (plan.ranks > 1) {
    text += fmt::format("network  {:.3g} GB/s and {:.3g} us from node to node", machine.network / 1e9,
                        1e6 * machine.latency);
    if (machine.per_node > 1)
      text +=
          fmt::format("; {} ranks in a node, {:.3g} GB/s between them", machine.per_node, machine.link / 1e9);
    text += fmt::format("; jitter {:.2g} %\n", 100 * machine.jitter);
  }
  text += fmt::format("update   {} micro-batches of {} sequences in {} leaves on {} rank{}: {} tokens\n\n",
                      train.accumulate, train.batch, train.leaves, plan.ranks, plan.ranks == 1 ? "" : "s",
                      short_count(static_cast<double>(plan.tokens_per_update)));
  text += to_text(table_of(plan, tokens)) + "\n";
  for (size_t zero = 0; zero < plan.stages.size(); ++zero)
    text += fmt::format("--zero {} is limited by {}\n", zero, plan.stages[zero].limit);
  return text;
}

nlohmann::ordered_json plan_json(const Plan& plan, double tokens) {
  const PlanMachine& machine = plan.machine;
  nlohmann::ordered_json json = {{"model", plan.model},
                                 {"ranks", plan.ranks},
                                 {"batch", plan.config.train.batch},
                                 {"accumulate", plan.config.train.accumulate},
                                 {"leaves", plan.config.train.leaves},
                                 {"context", plan.config.model.context},
                                 {"dtype", plan.config.run.dtype},
                                 {"tokens_per_update", plan.tokens_per_update},
                                 {"tokens", tokens},
                                 {"machine",
                                  {{"name", machine.name},
                                   {"peak_flops", machine.peak_flops},
                                   {"peak_share", machine.peak_share},
                                   {"memory_bandwidth", machine.memory_bandwidth},
                                   {"memory", machine.memory},
                                   {"per_node", machine.per_node},
                                   {"link", machine.link},
                                   {"network", machine.network},
                                   {"latency", machine.latency},
                                   {"jitter", machine.jitter}}}};
  json["stages"] = stages_json(plan, tokens);
  return json;
}

Table scaling_table(std::span<const Plan> plans, double tokens) {
  Table table = {{"ranks", "--zero", "memory", "tokens/s", "MFU", "efficiency",
                  short_count(tokens) + " tokens", "limited by"}};
  for (const Plan& plan : plans) add_scaling(table, plan, tokens);
  return table;
}

nlohmann::ordered_json scaling_json(std::span<const Plan> plans, double tokens) {
  auto json = nlohmann::ordered_json::array();
  for (const Plan& plan : plans)
    json.push_back(
        {{"ranks", plan.ranks}, {"leaves", plan.config.train.leaves}, {"stages", stages_json(plan, tokens)}});
  return json;
}

}  // namespace cladtorch::train
