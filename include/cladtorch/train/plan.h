// `cladtorch plan`, which predicts what a run on many ranks takes before anybody has them.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/models/language_model.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/table.h"

namespace cladtorch::train {

/// What each rank computes with, and what lies between the ranks. Rates are those of one rank, one way.
struct PlanMachine {
  std::string name;
  double peak_flops = 0;        ///< 1/s, of products in the dtype of the run
  double peak_share = 0;        ///< of the peak that a forward and backward pass reaches
  double memory_bandwidth = 0;  ///< B/s
  double memory = 0;            ///< B; 0 where it is not known
  int64_t per_node = 1;         ///< ranks that share a node
  double link = 0;              ///< B/s to ranks of the same node
  double network = 0;           ///< B/s to those of other nodes
  double latency = 0;           ///< s, from the sending of a message to its arrival
  double jitter = 0;            ///< standard deviation of a rank's computing time, as a share of it
};

/// The accelerators whose published figures are known: "a100, ...".
std::vector<std::string> published_machines();
/// Throws UsageError that names them for any other name.
PlanMachine published_machine(const std::string& name, DType dtype);
/// This machine, of which each rank uses `threads` and `per_node` ranks share all. Measures for some seconds;
/// how much of the peak a step reaches, with a few layers that are as wide as those of `model`.
PlanMachine measured_machine(const LanguageModel& model, const TrainConfig& config, int threads,
                             int64_t per_node);
/// What a run on `ranks` showed of its machines, of each rank.
struct RunSpeed {
  int ranks = 1;
  int64_t per_node = 1;          ///< that share a machine
  double peak_flops = 0;         ///< 1/s
  double memory_bandwidth = 0;   ///< B/s
  double tokens_per_second = 0;  ///< of all ranks
};
/// Machines like those of a run, whose plan has the speed of the run.
PlanMachine machine_of_run(const LanguageModel& model, const TrainConfig& config, const RunSpeed& speed);

/// Bytes of the rank that needs the most.
struct PlanMemory {
  double weights = 0;    ///< in the dtype of the run, and their float32 masters
  double gradients = 0;  ///< of which stage 2 keeps a share, and what is not sent yet
  double sums = 0;       ///< that wait for their neighbours in the tree
  double exchange = 0;   ///< what comes from other ranks
  double optimizer = 0;
  double activations = 0;
  double saving = 0;   ///< beside that, of the first rank: one tensor, with the shares of all
  double program = 0;  ///< with MPI and a tokenizer
  double total() const {
    return weights + gradients + sums + exchange + optimizer + activations + saving + program;
  }
};

/// Seconds of one update.
struct PlanTime {
  double compute = 0;    ///< forward and backward
  double sums = 0;       ///< adding the leaves of a rank
  double exchange = 0;   ///< of gradients, as far as no computing hides it
  double update = 0;     ///< norm and optimizer
  double gathering = 0;  ///< of what ranks updated, or with stage 0 of the gradient
  double jitter = 0;     ///< waiting for the slowest rank
  double total() const { return compute + sums + exchange + update + gathering + jitter; }
};

/// One of the ZeRO stages.
struct StagePlan {
  PlanMemory memory;
  PlanTime time;
  double sent = 0;  ///< bytes that a rank sends in an update, at most
  double tokens_per_second = 0;
  double mfu = 0;         ///< share of the peaks of all ranks
  double efficiency = 0;  ///< tokens per second and rank, against a run on one rank
  std::string limit;      ///< what keeps it from more, in a few words
};

struct Plan {
  std::string model;  ///< in a few words
  PlanMachine machine;
  TrainConfig config;  ///< leaves resolved
  int ranks = 1;
  int64_t tokens_per_update = 0;
  std::array<StagePlan, 3> stages{};  ///< of --zero 0, 1 and 2
};

/// The plan for `model`, whose numbers are not read, under `config` on so many ranks. Throws UsageError where
/// the micro-batches of an update cannot be shared by so many.
Plan make_plan(const LanguageModel& model, const TrainConfig& config, int ranks, const PlanMachine& machine);

/// From 1 to `ranks`: the powers of two between, or of four where those would be many.
std::vector<int> numbers_of_ranks(int ranks);
/// The plans of the same update on numbers_of_ranks(ranks).
std::vector<Plan> make_plans(const LanguageModel& model, const TrainConfig& config, int ranks,
                             const PlanMachine& machine);

/// For a terminal, and for programs; `tokens` is the length of the run whose time is shown.
std::string plan_text(const Plan& plan, double tokens);
nlohmann::ordered_json plan_json(const Plan& plan, double tokens);
/// How plans for more and more ranks compare: a table, and an array of objects.
Table scaling_table(std::span<const Plan> plans, double tokens);
nlohmann::ordered_json scaling_json(std::span<const Plan> plans, double tokens);

}  // namespace cladtorch::train
