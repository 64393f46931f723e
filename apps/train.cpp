#include <fmt/format.h>

#include <memory>

#include "apps/command.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/training_run.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

/// The keys that --config and --set take, with their defaults.
std::string describe_keys() {
  train::TrainConfig defaults;
  std::string text = "Keys of --config and --set:\n";
  for (const train::ConfigField& field : train::config_fields(defaults)) {
    const std::string value =
        std::visit([](auto* pointer) { return fmt::format("{}", *pointer); }, field.value);
    text += fmt::format("  {:<28} {:<18} {}\n", field.key, value.empty() ? "-" : value, field.help);
  }
  return text;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train a model; with no options, on the built-in stories");
  auto request = std::make_shared<train::TrainRequest>();
  command->add_option("--config", request->config, "TOML file of keys (see below)")->type_name("FILE");
  command->add_option("--resume", request->resume, "folder of a run to continue exactly where it stopped")
      ->type_name("FOLDER");

  // Flags are short names of keys.
  auto flags = std::make_shared<std::vector<std::string>>();
  const auto add = [&](const char* flag, const char* value_name, const char* key, const char* help) {
    command
        ->add_option_function<std::string>(
            flag,
            [=](const std::string& value) {
              // A script's variable that was never set; training on something else would be the worse answer.
              if (value.empty())
                throw train::UsageError(std::string("train: the value of ") + flag + " is empty");
              flags->push_back(std::string(key) + "=" + value);
            },
            help)
        ->type_name(value_name);
  };
  add("--text", "PATH", "data.text", "text file, folder of text files, or folder of prepared tokens");
  add("--tokenizer", "NAME|PATH", "data.vocabulary", "char, byte, or the file or folder of a tokenizer");
  add("--out", "FOLDER", "run.out", "folder for checkpoints, log and report (default runs/<name>)");
  add("--steps", "N", "train.steps", "optimizer updates");
  add("--threads", "N", "run.threads", "threads (default: all cores)");
  add("--seed", "N", "run.seed", "seed of everything that is random");
  add("--device", "NAME", "run.device", "where to compute: cpu");
  add("--dtype", "NAME", "run.dtype", "numbers that the model computes with: fp32 or bf16");
  command->add_option("--set", request->set, "override a key: --set optimizer.lr=1e-3 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(describe_keys());
  command->callback([=, &action] {
    request->set.insert(request->set.end(), flags->begin(), flags->end());
    action = [=] { return train::run_training(*request, stdout); };
  });
}

}  // namespace cladtorch::apps
