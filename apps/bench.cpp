#include "cladtorch/train/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "cladtorch/train/presets.h"

namespace cladtorch::apps {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Time training steps on random weights and tokens");
  auto options = std::make_shared<train::BenchOptions>();
  auto json = std::make_shared<bool>(false), worker = std::make_shared<bool>(false);
  auto dump = std::make_shared<std::filesystem::path>();
  const auto add = [&](const char* names, auto& value, const std::string& type, const char* help) {
    return command->add_option(names, value, help)->type_name(type);
  };
  add("--model", options->model, fmt::format("{}", fmt::join(train::preset_names(), "|")), "model to time")
      ->capture_default_str();
  add("--batch", options->batch, "N", "sequences per step")->check(whole_number(1))->capture_default_str();
  add("--context,--seq", options->seq, "N", "tokens per sequence")
      ->check(whole_number(1))
      ->capture_default_str();
  add("--dtype", options->dtype, "fp32|bf16|fp8",
      "number format of the computation; fp8: bf16, with linear layers in 8 bits")
      ->capture_default_str();
  add("--optimizer", options->optimizer, "adamw|adam|muon|sgd|rmsprop|adagrad|lion|adamax|nadam|radam",
      "what updates the weights")
      ->capture_default_str();
  add("--device", options->device, "cpu|cuda|cuda:N", "where to compute")->capture_default_str();
  add("--threads", options->threads, "N", "threads (default: all cores)")
      ->check(whole_number(0, most_threads));
  add("--steps,--iters", options->iters, "N", "steps to time; their medians are shown")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_flag("--gradient-checkpointing", options->gradient_checkpointing,
                    "compute each block again in the backward pass, which takes less memory");
  command
      ->add_option_function<int64_t>(
          "--lora-rank",
          [=](int64_t rank) {
            if (!options->lora) options->lora.emplace();
            options->lora->rank = rank;
          },
          "train LoRA adapters of this rank instead of the model")
      ->type_name("N")
      ->check(whole_number(1, 1 << 20));
  command
      ->add_option_function<std::vector<std::string>>(
          "--lora-targets",
          [=](const std::vector<std::string>& targets) {
            if (!options->lora) options->lora.emplace();
            options->lora->targets = targets;
          },
          "layers that get an adapter: c_attn,c_fc or all-linear (default: PEFT's)")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_flag("--json", *json, "print one JSON object instead of a table");
  add("--load", options->load, "FOLDER", "use the weights and tokens that --dump wrote into this folder");
  add("--dump", *dump, "FOLDER", "write weights, tokens, loss and gradient into this folder; time nothing");
  command->add_flag("--worker", *worker,
                    "run what lines of standard input ask for, such as 'forward_backward 3'");
  command->callback([=, &action] {
    action = [=] {
      if (!dump->empty()) {
        train::dump_bench(*options, train::bench_model(*options), *dump);
        return 0;
      }
      if (*worker) {
        train::serve_bench(*options, train::bench_model(*options), std::cin, std::cout);
        return 0;
      }
      const train::BenchResult result = train::run_bench(*options, train::bench_model(*options));
      fmt::print("{}",
                 *json ? train::bench_json(result).dump() + "\n" : train::bench_table(*options, result));
      return 0;
    };
  });
}

}  // namespace cladtorch::apps
