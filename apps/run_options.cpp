#include "apps/run_options.h"

#include <fmt/format.h>

#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

/// The keys that --config and --set take, with their defaults.
std::string describe_keys(train::TrainConfig defaults) {
  std::string text = "Keys of --config and --set:\n";
  for (const train::ConfigField& field : train::config_fields(defaults)) {
    const std::string value =
        std::visit([](auto* pointer) { return fmt::format("{}", *pointer); }, field.value);
    text += fmt::format("  {:<28} {:<18} {}\n", field.key, value.empty() ? "-" : value, field.help);
  }
  return text;
}

}  // namespace

RunOptions::RunOptions(CLI::App* command, Action& action, const train::TrainConfig& defaults)
    : command_(command) {
  command->add_option("--config", given_->request.config, "TOML file of keys (see below)")->type_name("FILE");
  command
      ->add_option("--resume", given_->request.resume, "folder of a run to continue exactly where it stopped")
      ->type_name("FOLDER");
  add_flag("--text", "PATH", "data.text", "text file, folder of text files, or folder of prepared tokens");
  add_flag("--tokenizer", "NAME|PATH", "data.vocabulary", "char, byte, or the file or folder of a tokenizer");
  add_flag("--out", "FOLDER", "run.out", "folder for checkpoints, log and report (default runs/<name>)");
  add_flag("--steps", "N", "train.steps", "optimizer updates");
  add_flag("--freeze", "PATTERNS", "train.freeze",
           "parameters that are not trained: \"transformer.wte*,*.bias\"");
  add_flag("--train-only", "PATTERNS", "train.train_only", "the only parameters that are trained");
  add_flag("--threads", "N", "run.threads", "threads (default: all cores)");
  add_flag("--seed", "N", "run.seed", "seed of everything that is random");
  add_flag("--device", "NAME", "run.device", "where to compute: cpu, cuda or cuda:N");
  add_flag("--dtype", "NAME", "run.dtype",
           "numbers that the model computes with: fp32, bf16, or fp8 in linear layers");
  command
      ->add_option("--set", given_->request.set, "override a key: --set optimizer.lr=1e-3 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(describe_keys(defaults));
  command->callback([given = given_, name = command->get_name(), &action] {
    train::TrainRequest& request = given->request;
    if (given->needs_from && !request.from && !request.resume)
      throw train::UsageError(name + ": --from is missing: the folder of the model to begin with");
    request.set.insert(request.set.end(), given->flags.begin(), given->flags.end());
    action = [request] { return train::run_training(request, stdout); };
  });
}

void RunOptions::add_flag(const char* flag, const char* value_name, const char* key, const char* help) {
  const std::string command = command_->get_name();
  command_
      ->add_option_function<std::string>(
          flag,
          [=, given = given_](const std::string& value) {
            // A script's variable that was never set; training on something else would be the worse answer.
            if (value.empty()) throw train::UsageError(command + ": the value of " + flag + " is empty");
            given->flags.push_back(std::string(key) + "=" + value);
          },
          help)
      ->type_name(value_name);
}

void RunOptions::add_from() {
  command_
      ->add_option("--from", given_->request.from,
                   "folder of the model to begin with: a Hugging Face model, a run or a checkpoint")
      ->type_name("FOLDER");
  given_->needs_from = true;
}

}  // namespace cladtorch::apps
