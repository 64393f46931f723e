#include "cladtorch/train/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cladtorch/train/progress.h"
#include "cladtorch/train/usage_error.h"
#include "train/plan/activations.h"
#include "train/plan/formulas.h"
#include "train/step/leaves.h"
#include "train/step/make_optimizer.h"
#include "train/step/shares.h"

namespace cladtorch::train {
namespace {

/// What it costs to hand one message to MPI.
constexpr double posting_seconds = 0.5e-6;
/// Resident memory of a run whose model is tiny, with the vocabulary of GPT-2.
constexpr double program_bytes = 5e7;
/// Bytes that pass between processor and memory: adding one number to another, and reading one.
constexpr double bytes_per_sum = 12, bytes_per_number = 4;
/// A plan names what limits it where that takes more of the time.
constexpr double worth_naming = 0.03;
/// Above so many ranks, plans for all powers of two would be too many to read.
constexpr int most_doubled = 64;

/// Bytes per parameter that an update moves.
double bytes_of_update(const Optimizer& optimizer, DType dtype) {
  const double copy = dtype == DType::bfloat16 ? size_of(dtype) : 0;  // the rounded parameter
  // What updates whole matrices keeps one number for each of their elements.
  const auto kept = optimizer.can_share() ? static_cast<double>(optimizer.state().size()) : 1;
  return 12 + 8 * kept + copy;  // reads the gradient, reads and writes the parameter and what is kept
}

/// What the stages of a plan have in common.
struct Given {
  const LanguageModel& model;
  const TrainConfig& config;
  int ranks;
  const PlanMachine& machine;
  DType dtype;
  TensorList parameters;
  Shares shares;
  double elements;       ///< of the gradient
  int64_t leaves_alone;  ///< that a run on one rank has

  PlanNetwork network() const {
    return {machine.per_node, machine.link, machine.network, machine.latency, posting_seconds};
  }
  /// Elements of the ranks' shares.
  std::vector<double> share_of_ranks() const {
    std::vector<double> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(elements_of(shares.pieces(rank)));
    return all;
  }
  double elements_of(const std::vector<size_t>& pieces) const {
    double sum = 0;
    for (const size_t piece : pieces) sum += elements_of(piece, piece + 1);
    return sum;
  }
  double elements_of(size_t first, size_t last) const {
    double sum = 0;
    for (size_t i = first; i < last; ++i) {
      const TensorList::Piece& piece = parameters.pieces()[i];
      sum += static_cast<double>(piece.end - piece.begin);
    }
    return sum;
  }
  double largest_tensor() const {
    int64_t most = 0;
    for (const NamedTensor& named : parameters) most = std::max(most, named.tensor.numel());
    return static_cast<double>(most);
  }
  /// Bytes that each rank owns of the gradient of a bucket.
  std::vector<double> parts(size_t bucket) const {
    std::vector<double> all;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto [first, last] = shares.pieces(bucket, rank);
      all.push_back(sizeof(float) * elements_of(first, last));
    }
    return all;
  }
  /// The gradient of the embedding, the first parameter, is complete when the backward pass is.
  bool is_tail(size_t bucket) const { return parameters.pieces()[shares.pieces(bucket).first].tensor == 0; }
  double micro_batch_seconds() const {
    const auto tokens = static_cast<double>(config.train.batch * config.model.context);
    return model.flops_per_token(config.model.context) * tokens / (machine.peak_flops * machine.peak_share);
  }
};

double sum_of(const std::vector<double>& values) { return std::reduce(values.begin(), values.end()); }
double most_of(const std::vector<double>& values) { return *std::ranges::max_element(values); }

double slowest(const PlanNetwork& network, const std::vector<Traffic>& traffic) {
  double seconds = 0;
  for (const Traffic& of_rank : traffic)
    seconds = std::max(seconds, traffic_seconds(network, static_cast<int>(traffic.size()), of_rank));
  return seconds;
}

/// One of the ZeRO stages.
class Stage {
 public:
  Stage(const Given& given, int zero)
      : given_(given),
        is_early_(zero == 2 && given.ranks > 1),
        leaves_(given.config.train.leaves, given.ranks, zero == 2),
        optimizer_(make_optimizer(given.config.optimizer, given.parameters, given.parameters)),
        shares_update_(given.ranks > 1 && zero > 0 && optimizer_->can_share()),
        share_(given.share_of_ranks()),
        most_share_(most_of(share_)) {
    for (size_t bucket = 0; bucket < given.shares.buckets(); ++bucket) parts_.push_back(given.parts(bucket));
    if (!shares_update_) return;
    const auto largest = std::ranges::max_element(share_) - share_.begin();
    optimizer_->set_share(given.shares.pieces(static_cast<int>(largest)));
  }

  StagePlan plan() const {
    StagePlan plan;
    plan.memory = memory();
    plan.time = time();
    plan.sent = sent();
    const auto tokens = static_cast<double>(given_.config.train.batch * given_.config.model.context *
                                            given_.config.train.accumulate);
    const double flops = tokens * given_.model.flops_per_token(given_.config.model.context);
    const double seconds = plan.time.total();
    plan.tokens_per_second = tokens / seconds;
    plan.mfu = flops / (seconds * given_.ranks * given_.machine.peak_flops);
    plan.efficiency = alone() / (given_.ranks * seconds);
    plan.limit = limit(plan);
    return plan;
  }

 private:
  PlanMemory memory() const {
    const double float_bytes = sizeof(float), whole = float_bytes * given_.elements;
    const auto all = static_cast<double>(given_.model.parameter_count());
    const bool has_masters = given_.dtype == DType::bfloat16;
    PlanMemory memory;
    memory.weights = all * static_cast<double>(size_of(given_.dtype));
    if (has_masters) memory.weights += float_bytes * (shares_update_ ? most_share_ : all);
    memory.gradients = whole;
    memory.optimizer = static_cast<double>(optimizer_->bytes());
    memory.activations =
        activation_bytes(given_.model, given_.dtype, given_.config.train.batch * given_.config.model.context);
    if (is_early_) {
      memory.gradients = std::min(whole, float_bytes * most_share_ + unsent());
      memory.sums = float_bytes * most_share_ * static_cast<double>(sums_between_rounds(leaves_));
    } else {
      memory.sums = whole * static_cast<double>(waiting());
    }
    for (int64_t round = 0; round < leaves_.rounds(); ++round)
      memory.exchange = std::max(memory.exchange, received(round));
    if (shares_update_) {
      const double unsent = is_early_ ? memory.gradients - float_bytes * most_share_ : 0;  // before an update
      memory.saving = std::max(0.0, float_bytes * given_.largest_tensor() - unsent);
    }
    memory.program = program_bytes;
    return memory;
  }

  /// Of the gradient of a leaf under way: what is complete last, and two buckets, one of which is sent while
  /// the other is computed.
  double unsent() const {
    double tail = 0, largest = 0;
    for (size_t bucket = 0; bucket < parts_.size(); ++bucket) {
      const double bytes = sum_of(parts_[bucket]);
      largest = std::max(largest, bytes);
      if (given_.is_tail(bucket)) tail += bytes;
    }
    return tail + 2 * largest;
  }

  int64_t waiting() const {
    int64_t most = 0;
    for (int rank = 0; rank < given_.ranks; ++rank) {
      const std::vector<int64_t> own = leaves_.of_rank(rank);
      most = std::max(most, waiting_sums(leaves_.all(), {own.front(), own.back() + 1}));
    }
    return most;
  }

  /// Bytes that arrive for one bucket.
  double received(int64_t round) const {
    if (given_.ranks == 1) return 0;
    const std::vector<int64_t> sums = sums_sent(round);
    const auto all = std::reduce(sums.begin(), sums.end());
    double most = 0;
    for (size_t rank = 0; rank < sums.size(); ++rank) {
      double part = 0;
      for (const std::vector<double>& parts : parts_) part = std::max(part, parts[rank]);
      most = std::max(most, part * static_cast<double>(all - sums[rank]));
    }
    return most;
  }

  std::vector<int64_t> sums_sent(int64_t round) const {
    std::vector<int64_t> sums;
    for (int rank = 0; rank < given_.ranks; ++rank)
      sums.push_back(static_cast<int64_t>(leaves_.sent(rank, round).size()));
    return sums;
  }

  /// Of one round: what is exchanged during the backward pass, and what is complete only after it.
  struct Round {
    double body = 0, tail = 0;
  };
  Round exchange(int64_t round) const {
    Round seconds;
    if (given_.ranks == 1) return seconds;
    const std::vector<int64_t> sums = sums_sent(round);
    const auto all = static_cast<double>(std::reduce(sums.begin(), sums.end()));
    for (size_t bucket = 0; bucket < parts_.size(); ++bucket) {
      const double adding = (all + 1) * most_of(parts_[bucket]) / given_.machine.memory_bandwidth;
      const double one = slowest(given_.network(), exchange_traffic(parts_[bucket], sums)) + adding;
      (given_.is_tail(bucket) ? seconds.tail : seconds.body) += one;
    }
    return seconds;
  }

  double exposed_exchange() const {
    const double micro_batch = given_.micro_batch_seconds();
    const double leaf = micro_batch * static_cast<double>(of_leaf());
    double seconds = 0;
    for (int64_t round = 0; round < leaves_.rounds(); ++round) {
      const Round here = exchange(round);
      if (!given_.config.distributed.overlap)
        seconds += here.body + here.tail;
      else if (round + 1 < leaves_.rounds())  // the next leaf is computed meanwhile
        seconds += std::max(0.0, here.body + here.tail - leaf);
      else
        seconds += exposed_seconds(here.body, here.tail, backward_share * micro_batch);
    }
    return seconds;
  }

  int64_t of_leaf() const { return given_.config.train.accumulate / given_.config.train.leaves; }

  /// Of the rank that has the most.
  double leaves_of_rank() const {
    return std::ceil(static_cast<double>(given_.config.train.leaves) / given_.ranks);
  }

  PlanTime time() const {
    PlanTime time;
    time.compute = given_.micro_batch_seconds() * static_cast<double>(of_leaf()) * leaves_of_rank();
    if (!is_early_) time.sums = adding(leaves_of_rank());
    time.exchange = exposed_exchange();
    time.update = update(shares_update_ ? most_share_ : given_.elements);
    time.gathering = gather();
    time.jitter = jitter_seconds(time.compute, given_.machine.jitter, given_.ranks);
    return time;
  }

  double adding(double leaves) const {
    return (leaves - 1) * bytes_per_sum * given_.elements / given_.machine.memory_bandwidth;
  }
  /// Of so many parameters, whose gradients are read for the norm before.
  double update(double elements) const {
    const double bytes = bytes_per_number + bytes_of_update(*optimizer_, given_.dtype);
    return elements * bytes / given_.machine.memory_bandwidth;
  }
  /// Of what is gathered, what the next forward pass reads first hides behind nothing, and the rest behind
  /// that.
  double gather() const {
    if (given_.ranks == 1) return 0;
    const PlanNetwork network = given_.network();
    if (!shares_update_) {
      std::vector<double> bytes = share_;
      for (double& part : bytes) part *= gathered_bytes();
      return slowest(network, gather_traffic(bytes, static_cast<double>(parts_.size())));
    }
    double body = 0, tail = 0;
    for (size_t bucket = 0; bucket < parts_.size(); ++bucket) {
      std::vector<double> bytes = parts_[bucket];
      size_t runs = 0;
      for (size_t rank = 0; rank < bytes.size(); ++rank) {
        bytes[rank] *= gathered_bytes() / sizeof(float);
        runs = std::max(runs, given_.shares.runs(bucket, static_cast<int>(rank)).size());
      }
      const double one = slowest(network, gather_traffic(bytes, static_cast<double>(runs)));
      (given_.is_tail(bucket) ? tail : body) += one;
    }
    if (!given_.config.distributed.overlap) return body + tail;
    return exposed_seconds(body, tail, (1 - backward_share) * given_.micro_batch_seconds());
  }
  /// Of one number of the gradient or of the weights.
  double gathered_bytes() const {
    return static_cast<double>(shares_update_ ? size_of(given_.dtype) : sizeof(float));
  }
  double sent() const {
    if (given_.ranks == 1) return 0;
    std::vector<double> bytes(static_cast<size_t>(given_.ranks));
    for (int64_t round = 0; round < leaves_.rounds(); ++round) {
      const std::vector<int64_t> sums = sums_sent(round);
      for (const std::vector<double>& parts : parts_) {
        const std::vector<Traffic> traffic = exchange_traffic(parts, sums);
        for (size_t rank = 0; rank < bytes.size(); ++rank) bytes[rank] += traffic[rank].sent;
      }
    }
    for (size_t rank = 0; rank < bytes.size(); ++rank)
      bytes[rank] += (given_.ranks - 1) * share_[rank] * gathered_bytes();
    return most_of(bytes);
  }

  /// Seconds of the update on one rank.
  double alone() const {
    const auto& train = given_.config.train;
    return given_.micro_batch_seconds() * static_cast<double>(train.accumulate) +
           adding(static_cast<double>(given_.leaves_alone)) + update(given_.elements);
  }

  std::string limit(const StagePlan& plan) const {
    const double memory = given_.machine.memory;
    if (memory > 0 && plan.memory.total() > memory)
      return fmt::format("memory: {} too much", short_bytes(plan.memory.total() - memory));
    const PlanTime& time = plan.time;
    const double uneven =
        time.compute * (1 - static_cast<double>(leaves_.all().count()) / (leaves_of_rank() * given_.ranks));
    const std::pair<double, const char*> losses[] = {{time.exchange + time.gathering, "network"},
                                                     {time.sums + time.update, "memory bandwidth"},
                                                     {time.jitter, "the slowest rank"},
                                                     {uneven, "leaves that ranks do not share evenly"}};
    const auto& [seconds, name] =
        *std::ranges::max_element(losses, {}, &std::pair<double, const char*>::first);
    const double share = seconds / time.total();
    return share > worth_naming ? fmt::format("{}: {:.0f} %", name, 100 * share) : "computing";
  }

  const Given& given_;
  bool is_early_;
  LeafPlan leaves_;
  std::unique_ptr<Optimizer> optimizer_;
  bool shares_update_;
  std::vector<double> share_;  ///< elements of each rank
  double most_share_;
  std::vector<std::vector<double>> parts_;  ///< of each bucket
};

}  // namespace

Plan make_plan(const LanguageModel& model, const TrainConfig& config, int ranks, const PlanMachine& machine) {
  Plan plan{.model = fmt::format("{} ({}: {} parameters)", model.type(), describe(model.sizes()),
                                 short_count(static_cast<double>(model.parameter_count()))),
            .machine = machine,
            .config = config,
            .ranks = ranks};
  resolve_leaves(plan.config, ranks);
  const TrainConfig& resolved = plan.config;
  plan.tokens_per_update = resolved.train.batch * resolved.model.context * resolved.train.accumulate;
  TensorList parameters(model.parameters());
  Shares shares(parameters, ranks, elements_of_bucket(resolved.distributed.bucket_mb));
  const Given given{.model = model,
                    .config = resolved,
                    .ranks = ranks,
                    .machine = machine,
                    .dtype = precision_from_string(resolved.run.dtype).dtype,
                    .parameters = std::move(parameters),
                    .shares = std::move(shares),
                    .elements = static_cast<double>(model.gradient_elements()),
                    .leaves_alone = std::max<int64_t>(1, config.train.leaves)};
  for (int zero = 0; zero < 3; ++zero) plan.stages[static_cast<size_t>(zero)] = Stage(given, zero).plan();
  return plan;
}

std::vector<int> numbers_of_ranks(int ranks) {
  const int factor = ranks > most_doubled ? 4 : 2;
  std::vector<int> numbers;
  for (int number = 1; number < ranks; number *= factor) numbers.push_back(number);
  numbers.push_back(ranks);
  return numbers;
}

std::vector<Plan> make_plans(const LanguageModel& model, const TrainConfig& config, int ranks,
                             const PlanMachine& machine) {
  std::vector<Plan> plans;
  for (const int number : numbers_of_ranks(ranks)) plans.push_back(make_plan(model, config, number, machine));
  return plans;
}

}  // namespace cladtorch::train
