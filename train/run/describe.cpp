#include "train/run/describe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/progress.h"
#include "train/step/leaves.h"

namespace cladtorch::train {

namespace {

/// As short as it can be said from here.
std::string shown_path(const std::string& path) {
  const std::string near =
      std::filesystem::path(path).lexically_proximate(std::filesystem::current_path()).string();
  return near.starts_with("..") ? path : near;
}

}  // namespace

std::string describe_text(const TrainConfig& config, const data::Dataset& data) {
  const size_t tokens = data.train.size() + data.validation.size();
  const std::string name = config.data.text.empty() ? "built-in stories" : shown_path(config.data.text);
  std::string line = fmt::format("text    {}, {} tokens of {} kinds, {} of them for validation", name,
                                 short_count(static_cast<double>(tokens)), data.tokenizer->vocab_size(),
                                 short_count(static_cast<double>(data.validation.size())));
  if (data.entropy_floor) line += fmt::format("; entropy {:.4f} nats per token (exact)", *data.entropy_floor);
  return line;
}

std::string describe_model(const LanguageModel& model) {
  return fmt::format("{} ({}: {} parameters)", model.type(), describe(model.sizes()),
                     short_count(static_cast<double>(model.parameter_count())));
}

std::string describe_ranks(const TrainConfig& config, const comm::Communicator& ranks) {
  std::set<std::string> machines;
  const LeafPlan plan(config.train.leaves, ranks.size(), config.distributed.zero == 2);
  size_t most = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    machines.insert(ranks.host(rank));
    size_t sent = 0;
    for (int64_t round = 0; round < plan.rounds(); ++round) sent += plan.sent(rank, round).size();
    most = std::max(most, sent);
  }
  std::string text =
      fmt::format("ranks   {} on {} {}, {} leaves: a rank sends its gradient {} in each update", ranks.size(),
                  machines.size(), machines.size() == 1 ? "machine" : "machines", config.train.leaves,
                  most == 1 ? "once" : fmt::format("up to {} times", most));
  int here = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) here += ranks.host(rank) == ranks.host(ranks.rank());
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (here * num_threads() <= cores / 2)
    text += fmt::format(
        "\nthreads {} of the {} cores here are used; mpirun --bind-to none, or --map-by ppr:{}:node:pe={}, "
        "gives each rank more",
        here * num_threads(), cores, here, cores / here);
  return text;
}

std::string describe_memory(const MemoryUse& use) {
  const std::string masters =
      use.masters > 0 ? fmt::format("  masters {}", short_bytes(static_cast<double>(use.masters))) : "";
  return fmt::format(
      "parameters {}{}  gradients {}  optimizer {}  activations {}  peak {}",
      short_bytes(static_cast<double>(use.parameters)), masters,
      short_bytes(static_cast<double>(use.gradients)), short_bytes(static_cast<double>(use.optimizer)),
      short_bytes(static_cast<double>(use.activations)), short_bytes(static_cast<double>(use.peak())));
}

std::string describe_lack(const TrainConfig& config, Trainer& trainer, const MemoryUse& use) {
  const size_t free = device_capacity(trainer.model().device()).free;
  if (use.activations <= free) return "";
  std::string text = fmt::format("train: a step needs {} for activations, but {} has only {} left",
                                 short_bytes(static_cast<double>(use.activations)), config.run.device,
                                 short_bytes(static_cast<double>(free)));
  std::string ways;
  for (const bool recompute : {false, true}) {
    if (config.model.gradient_checkpointing && !recompute) continue;
    for (int64_t batch = config.train.batch; batch > 0; batch /= 2) {
      const size_t bytes = trainer.plan_activations(batch, recompute);
      if (bytes > free) continue;
      ways += fmt::format("{}{}{}{} ({})", ways.empty() ? "" : ", or ",
                          recompute ? "model.gradient_checkpointing = true" : "",
                          recompute && batch < config.train.batch ? " and " : "",
                          batch < config.train.batch
                              ? fmt::format("train.batch = {} with train.accumulate = {}", batch,
                                            config.train.accumulate * config.train.batch / batch)
                              : "",
                          short_bytes(static_cast<double>(bytes)));
      break;
    }
  }
  return text + (ways.empty()
                     ? "; even one sequence does not fit: shorten model.context, or train a smaller model"
                     : "; what fits: " + ways);
}

std::string describe_trained(const Trainer& trainer) {
  const int64_t all = trainer.model().parameter_count(), trained = trainer.trained_parameters();
  if (trained == all) return "";
  return fmt::format("train   {} of {} parameters ({:.3g} %)", short_count(static_cast<double>(trained)),
                     short_count(static_cast<double>(all)),
                     100 * static_cast<double>(trained) / static_cast<double>(all));
}

std::string describe_rank(const TrainConfig& config, const LanguageModel& model) {
  const int64_t most = model.sizes().channels;  // one side of each matrix
  if (config.lora.rank <= most) return "";
  return fmt::format(
      "warning lora.rank is {}, but no matrix of the model has a rank above {}, which gives as much in less "
      "memory",
      config.lora.rank, most);
}

std::string describe_finetuning(const RunRecord& run) {
  std::string text;
  if (const StepRecord* best = run.best(); best && *best->val_loss >= *run.facts.first_val)
    text = "no evaluation was better than the first: best/ holds the model as it came\n";
  const StepRecord last = run.records.empty() ? StepRecord{} : run.records.back();
  return text + fmt::format("trained {} of {} parameters on {} tokens in {}",
                            short_count(static_cast<double>(run.facts.trained_parameters)),
                            short_count(static_cast<double>(run.facts.parameters)),
                            short_count(static_cast<double>(last.tokens)), short_duration(last.seconds));
}

std::string describe_threads() {
  return fmt::format("{} thread{}", num_threads(), num_threads() == 1 ? "" : "s");
}

}  // namespace cladtorch::train
