#include "cladtorch/train/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/allocation_counter.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/system_info.h"
#include "train/bench/bench_step.h"

namespace cladtorch::train {
namespace {

/// Untrained scores are nearly equal, so the loss is ln(vocabulary) up to the spread of the initialization.
constexpr double loss_tolerance = 0.05;
constexpr int warm_up_steps = 2;            // one records the memory, one runs on the plan
constexpr int warm_up_steps_on_device = 4;  // products are chosen, graphs captured

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Each part of each step by itself.
double time_on_cpu(int64_t iters, BenchStep& step, BenchResult& result) {
  double loss = 0;
  const auto forward = [&] { loss = step.forward(); };
  const auto forward_backward = [&] { loss = step.forward_backward(); };
  const auto update = [&] { step.update(); };
  for (int i = 0; i < warm_up_steps; ++i) {
    forward();
    forward_backward();
    update();
  }
  std::vector<double> forwards, both, backwards, updates, steps;
  int64_t step_allocations = 0;
  for (int64_t i = 0; i < iters; ++i) {
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
  result.forward_ms = median(forwards);
  result.forward_backward_ms = median(both);
  result.backward_ms = median(backwards);
  result.optimizer_ms = median(updates);
  result.step_ms = median(steps);
  result.allocations_per_step = static_cast<double>(step_allocations) / static_cast<double>(iters);
  return loss;
}

double time_on_device(int64_t iters, BenchStep& step, BenchResult& result) {
  step.steps(warm_up_steps_on_device);
  result.step_ms = step.steps(iters).milliseconds.front();
  std::vector<double> forwards, both;
  double loss = 0;
  for (int64_t i = 0; i <= iters; ++i) {
    const double forward = milliseconds([&] { loss = step.forward(); });
    const double gradient = milliseconds([&] { step.forward_backward(); });
    if (i == 0) continue;  // plans memory
    forwards.push_back(forward);
    both.push_back(gradient);
  }
  result.forward_ms = median(forwards);
  result.forward_backward_ms = median(both);
  result.device_mb = static_cast<double>(most_device_memory(step.device())) / 1e6;
  return loss;
}

}  // namespace

BenchResult run_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model) {
  BenchStep step(options, std::move(model));
  BenchResult result;
  result.loss = step.step();
  result.first_step_ms = 1e3 * seconds_since_process_start();
  const int64_t vocab_size = step.model().sizes().vocab_size;
  const double expected = std::log(static_cast<double>(vocab_size));
  require(std::abs(result.loss - expected) <= loss_tolerance * expected,
          "bench: the loss of the untrained model is ", result.loss, ", expected about ln(", vocab_size,
          ") = ", expected, "; the step is wrong, so it was not timed");
  const double loss = step.is_on_cpu() ? time_on_cpu(options.iters, step, result)
                                       : time_on_device(options.iters, step, result);
  require(std::isfinite(loss), "bench: the loss after ", options.iters, " steps is ", loss,
          ", expected a number");
  result.tokens_per_s = 1e3 * static_cast<double>(options.batch * options.seq) / result.step_ms;
  result.peak_rss_mb = peak_resident_bytes() / 1e6;
  result.arena_mb = static_cast<double>(step.arena_bytes()) / 1e6;
  if (!options.lora)
    result.flops =
        step.model().flops_per_token(options.seq) * static_cast<double>(options.batch * options.seq);
  return result;
}

nlohmann::ordered_json bench_json(const BenchResult& r) {
  nlohmann::ordered_json json = {{"forward_ms", r.forward_ms},
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
  if (r.device_mb > 0) json["device_mb"] = r.device_mb;
  return json;
}

std::string bench_table(const BenchOptions& options, const BenchResult& r) {
  const DType dtype = precision_from_string(options.dtype).dtype;
  const Device device = device_from_string(options.device);
  const bool on_cpu = device.type == DeviceType::cpu;
  const double peak = on_cpu ? measure_peak_flops(num_threads(), dtype) : measure_peak_flops(device, dtype);
  std::string text = fmt::format("{}, batch {}, {} tokens, {}, {}\n\n", options.model, options.batch,
                                 options.seq, options.dtype,
                                 on_cpu ? fmt::format("{} threads of {}", num_threads(), cpu_name())
                                        : fmt::format("{} ({})", options.device, device_name(device)));
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<22}{:>14}\n", name, value);
  };
  row("forward", fmt::format("{:.2f} ms", r.forward_ms));
  if (on_cpu) row("backward", fmt::format("{:.2f} ms", r.backward_ms));
  row("forward + backward", fmt::format("{:.2f} ms", r.forward_backward_ms));
  if (on_cpu) row("optimizer", fmt::format("{:.2f} ms", r.optimizer_ms));
  row("step", fmt::format("{:.2f} ms", r.step_ms));
  row("first step, from start", fmt::format("{:.0f} ms", r.first_step_ms));
  row("tokens per second", fmt::format("{:.0f}", r.tokens_per_s));
  if (!on_cpu && r.flops > 0) row("MFU", fmt::format("{:.0f} %", 1e5 * r.flops / peak / r.step_ms));
  if (on_cpu && r.flops > 0) {
    row("floor of fwd + bwd", fmt::format("{:.2f} ms", 1e3 * r.flops / peak));
    row("of the floor", fmt::format("{:.0f} %", 1e5 * r.flops / peak / r.forward_backward_ms));
  }
  row("measured peak", fmt::format("{:.0f} GFLOP/s", peak / 1e9));
  row("peak memory", fmt::format("{:.0f} MB", r.peak_rss_mb));
  row("arena", fmt::format("{:.1f} MB", r.arena_mb));
  if (on_cpu) row("allocations per step", fmt::format("{:g}", r.allocations_per_step));
  if (!on_cpu) row("memory of the device", fmt::format("{:.0f} MB", r.device_mb));
  row("loss", fmt::format("{:.4f}", r.loss));
  return text;
}

}  // namespace cladtorch::train
