#include <istream>
#include <ostream>
#include <sstream>

#include "cladtorch/quote.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/train/generate.h"
#include "train/bench/bench_step.h"

namespace cladtorch::train {
namespace {

constexpr int64_t prompt_length = 16;

/// Milliseconds of each of `count` tokens after the one that reads the prompt.
std::vector<double> time_generation(const BenchStep& step, int64_t count) {
  using Clock = std::chrono::steady_clock;
  const auto length = static_cast<size_t>(std::min(prompt_length, step.tokens().numel()));
  std::vector<double> times;
  Clock::time_point last;
  generate(step.model(), {step.tokens().data<int32_t>(), length}, count + 1, {.temperature = 0},
           [&, first = true](int32_t) mutable {
             const auto now = Clock::now();
             if (!first) times.push_back(std::chrono::duration<double, std::milli>(now - last).count());
             first = false;
             last = now;
           });
  return times;
}

}  // namespace

void serve_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model, std::istream& in,
                 std::ostream& out) {
  BenchStep step(options, std::move(model));
  double loss = step.step();
  out << nlohmann::ordered_json{{"loss", loss}}.dump() << std::endl;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string phase, rest;
    int64_t count = 0;
    require(static_cast<bool>(words >> phase >> count) && count > 0 && !(words >> rest), "bench: request '",
            line, "', expected a phase and a count");
    std::vector<double> times;
    const auto repeat = [&](auto&& action) {
      for (int64_t i = 0; i < count; ++i) times.push_back(milliseconds([&] { loss = action(); }));
    };
    if (phase == "forward") {
      repeat([&] { return step.forward(); });
    } else if (phase == "forward_backward") {
      repeat([&] { return step.forward_backward(); });
    } else if (phase == "step") {
      const BenchStep::Steps steps = step.steps(count);
      times = steps.milliseconds;
      loss = steps.loss;
    } else if (phase == "generate") {
      times = time_generation(step, count);
    } else {
      fail("bench: phase ", in_quotes(phase), ", expected forward, forward_backward, step or generate");
    }
    nlohmann::ordered_json answer = {{"ms", times}, {"loss", loss}};
    if (!step.is_on_cpu()) answer["device_mb"] = static_cast<double>(most_device_memory(step.device())) / 1e6;
    out << answer.dump() << std::endl;
  }
}

}  // namespace cladtorch::train
