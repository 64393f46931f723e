#include "cladtorch/train/bench.h"

#include <fmt/format.h>

#include <memory>

#include "apps/command.h"

namespace cladtorch::apps {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Time training steps on random weights and tokens");
  auto options = std::make_shared<train::BenchOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("--model", options->model, "gpt2, gpt2-medium, gpt2-large, gpt2-xl or toy")
      ->capture_default_str();
  command->add_option("--batch", options->batch, "sequences")->capture_default_str();
  command->add_option("--seq", options->seq, "tokens per sequence")->capture_default_str();
  command->add_option("--dtype", options->dtype, "fp32")->capture_default_str();
  command->add_option("--threads", options->threads, "threads (default: all cores)");
  command->add_option("--iters", options->iters, "timed steps; medians are shown")->capture_default_str();
  command->add_flag("--json", *json, "one JSON object instead of a table");
  command->callback([=, &action] {
    action = [=] {
      const train::BenchResult result = train::run_bench(*options, train::gpt2_objective());
      fmt::print("{}",
                 *json ? train::bench_json(result).dump() + "\n" : train::bench_table(*options, result));
      return 0;
    };
  });
}

}  // namespace cladtorch::apps
