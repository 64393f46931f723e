#include "train/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/generate.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/system_info.h"
#include "train/describe.h"

namespace cladtorch::train {
namespace {

std::vector<std::pair<std::string, std::string>> tiles(const RunSummary& summary) {
  const TrainerState& state = summary.trainer.state();
  const double tokens =
      static_cast<double>(state.step) * static_cast<double>(summary.trainer.tokens_per_step());
  const double rate = median_rate(summary.records);
  const double share = 100.0 * rate *
                       flops_per_token(summary.trainer.model().config, summary.config.model.context) /
                       summary.peak_flops;
  std::vector<std::pair<std::string, std::string>> result;
  if (state.best_val) result.push_back({"best validation loss", fmt::format("{:.4f}", *state.best_val)});
  if (const std::string above = above_floor(summary.data, state); !above.empty()) {
    result.push_back({fmt::format("above the floor of {:.4f}", *summary.data.entropy_floor), above});
  }
  result.push_back({"training time", short_duration(state.seconds)});
  result.push_back({"tokens per second, median", short_count(rate)});
  result.push_back({"of the measured peak", fmt::format("{:.0f} %", share)});
  result.push_back({"tokens seen", short_count(tokens)});
  return result;
}

}  // namespace

std::string above_floor(const data::Dataset& data, const TrainerState& state) {
  if (!data.entropy_floor || !state.best_val) return {};
  return fmt::format("{:.1f} %", 100.0 * (*state.best_val / *data.entropy_floor - 1.0));
}

std::vector<ReportSample> draw_samples(const TrainConfig& config, const GPT2& model,
                                       const data::Tokenizer& tokenizer) {
  std::vector<ReportSample> samples;
  for (int64_t i = 0; i < config.sample.count; ++i) {
    const SamplingOptions options{.temperature = config.sample.temperature,
                                  .top_k = config.sample.top_k,
                                  .top_p = config.sample.top_p,
                                  .seed = static_cast<uint64_t>(config.run.seed) + static_cast<uint64_t>(i)};
    std::string text = generate_text(model, tokenizer, config.sample.prompt, config.sample.tokens, options);
    if (config.sample.prompt.empty()) text.erase(0, std::min(text.find_first_not_of("\n "), text.size()));
    samples.push_back({config.sample.prompt, std::move(text)});
  }
  return samples;
}

Report run_report(const RunSummary& summary) {
  const TrainerState& state = summary.trainer.state();
  Report report;
  report.name = summary.config.run.name;
  report.subtitle = describe_model(summary.trainer.model());
  report.footer = fmt::format("cladtorch {} · {}, {} · {} · {} · step {} of {}", version(), cpu_name(),
                              describe_threads(), summary.config.run.dtype, describe_memory(summary.memory),
                              state.step, state.steps);
  report.tiles = tiles(summary);
  report.records = summary.records;
  if (summary.config.train.eval_prefix > 0) {
    report.note = fmt::format(
        "Validation reads the first {:.0f} % of each window and scores the rest; training scores all of it, "
        "the "
        "first tokens almost blind, and so lies higher.",
        100.0 * summary.config.train.eval_prefix);
  }
  report.floor = summary.data.entropy_floor;
  report.samples = summary.samples;
  report.config = config_json(summary.config);
  return report;
}

}  // namespace cladtorch::train
