#include "cladtorch/train/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/allocation_counter.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/system_info.h"
#include "train/bench_step.h"

namespace cladtorch::train {
namespace {

/// Untrained scores are nearly equal, so the loss is ln(vocabulary) up to the spread of the initialization.
constexpr double loss_tolerance = 0.05;
constexpr int warm_up_steps = 2;  // one records the memory, one runs on the plan

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace

BenchResult run_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model) {
  BenchStep step(options, std::move(model));
  double loss = 0;
  const auto forward = [&] { loss = step.forward(); };
  const auto forward_backward = [&] { loss = step.forward_backward(); };
  const auto update = [&] { step.update(); };

  BenchResult result;
  forward_backward();
  update();
  result.first_step_ms = 1e3 * seconds_since_process_start();
  result.loss = loss;
  const int64_t vocab_size = step.model().sizes().vocab_size;
  const double expected = std::log(static_cast<double>(vocab_size));
  require(std::abs(loss - expected) <= loss_tolerance * expected,
          "bench: the loss of the untrained model is ", loss, ", expected about ln(", vocab_size,
          ") = ", expected, "; the step is wrong, so it was not timed");
  for (int i = 0; i < warm_up_steps; ++i) {
    forward();
    forward_backward();
    update();
  }

  std::vector<double> forwards, both, backwards, updates, steps;
  int64_t step_allocations = 0;
  for (int64_t i = 0; i < options.iters; ++i) {
    forwards.push_back(milliseconds(forward));
    const int64_t before = heap_allocations();
    const double gradient_ms = milliseconds(forward_backward);
    const double update_ms = milliseconds(update);
    step_allocations += heap_allocations() - before;
    both.push_back(gradient_ms);
    updates.push_back(update_ms);
    backwards.push_back(gradient_ms - forwards.back());
    steps.push_back(gradient_ms + update_ms);
  }
  require(std::isfinite(loss), "bench: the loss after ", options.iters, " steps is ", loss,
          ", expected a number");
  result.forward_ms = median(forwards);
  result.forward_backward_ms = median(both);
  result.backward_ms = median(backwards);
  result.optimizer_ms = median(updates);
  result.step_ms = median(steps);
  result.tokens_per_s = 1e3 * static_cast<double>(options.batch * options.seq) / result.step_ms;
  result.peak_rss_mb = peak_resident_bytes() / 1e6;
  result.arena_mb = static_cast<double>(step.arena_bytes()) / 1e6;
  if (!options.lora)
    result.flops =
        step.model().flops_per_token(options.seq) * static_cast<double>(options.batch * options.seq);
  result.allocations_per_step = static_cast<double>(step_allocations) / static_cast<double>(options.iters);
  return result;
}

nlohmann::ordered_json bench_json(const BenchResult& r) {
  return {{"forward_ms", r.forward_ms},
          {"backward_ms", r.backward_ms},
          {"forward_backward_ms", r.forward_backward_ms},
          {"optimizer_ms", r.optimizer_ms},
          {"step_ms", r.step_ms},
          {"first_step_ms", r.first_step_ms},
          {"tokens_per_s", r.tokens_per_s},
          {"peak_rss_mb", r.peak_rss_mb},
          {"arena_mb", r.arena_mb},
          {"allocations_per_step", r.allocations_per_step},
          {"loss", r.loss}};
}

std::string bench_table(const BenchOptions& options, const BenchResult& r) {
  const double peak = measure_peak_flops(num_threads(), dtype_from_string(options.dtype));
  std::string text = fmt::format("{}, batch {}, {} tokens, {}, {} threads of {}\n\n", options.model,
                                 options.batch, options.seq, options.dtype, num_threads(), cpu_name());
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<22}{:>14}\n", name, value);
  };
  row("forward", fmt::format("{:.2f} ms", r.forward_ms));
  row("backward", fmt::format("{:.2f} ms", r.backward_ms));
  row("forward + backward", fmt::format("{:.2f} ms", r.forward_backward_ms));
  row("optimizer", fmt::format("{:.2f} ms", r.optimizer_ms));
  row("step", fmt::format("{:.2f} ms", r.step_ms));
  row("first step, from start", fmt::format("{:.0f} ms", r.first_step_ms));
  row("tokens per second", fmt::format("{:.0f}", r.tokens_per_s));
  if (r.flops > 0) {
    row("floor of fwd + bwd", fmt::format("{:.2f} ms", 1e3 * r.flops / peak));
    row("of the floor", fmt::format("{:.0f} %", 1e5 * r.flops / peak / r.forward_backward_ms));
  }
  row("measured peak", fmt::format("{:.0f} GFLOP/s", peak / 1e9));
  row("peak memory", fmt::format("{:.0f} MB", r.peak_rss_mb));
  row("arena", fmt::format("{:.1f} MB", r.arena_mb));
  row("allocations per step", fmt::format("{:g}", r.allocations_per_step));
  row("loss", fmt::format("{:.4f}", r.loss));
  return text;
}

}  // namespace cladtorch::train
