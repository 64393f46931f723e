#include "cladtorch/train/bench.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"

namespace cladtorch::apps {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Time training steps on random weights and tokens");
  auto options = std::make_shared<train::BenchOptions>();
  auto json = std::make_shared<bool>(false), worker = std::make_shared<bool>(false);
  auto dump = std::make_shared<std::filesystem::path>();
  command
      ->add_option("--model", options->model,
                   "gpt2, gpt2-medium, gpt2-large, gpt2-xl, toy, " + llama_preset_names())
      ->capture_default_str();
  command->add_option("--batch", options->batch, "sequences")->capture_default_str();
  command->add_option("--seq", options->seq, "tokens per sequence")->capture_default_str();
  command->add_option("--dtype", options->dtype, "fp32, bf16, or fp8 in linear layers")
      ->capture_default_str();
  command->add_option("--device", options->device, "cpu, cuda or cuda:N")->capture_default_str();
  command->add_option("--threads", options->threads, "threads (default: all cores)");
  command->add_option("--iters", options->iters, "timed steps; medians are shown")->capture_default_str();
  command->add_flag("--gradient-checkpointing", options->gradient_checkpointing,
                    "compute each block again in the backward pass: less memory");
  command
      ->add_option_function<int64_t>(
          "--lora-rank",
          [=](int64_t rank) {
            if (!options->lora) options->lora.emplace();
            options->lora->rank = rank;
          },
          "train LoRA adapters of this rank instead of the model")
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
  command->add_flag("--json", *json, "one JSON object instead of a table");
  command->add_option("--load", options->load, "use the weights and tokens of a folder that --dump wrote");
  command->add_option("--dump", *dump,
                      "write weights, tokens, loss and gradient into this folder; time nothing");
  command->add_flag("--worker", *worker, "run what standard input asks for: lines like 'forward_backward 3'");
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
