#include "apps/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "apps/examples.h"
#include "cladtorch/train/training_run.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

/// An option that is a short name of a key.
struct Shorthand {
  const char *option, *type, *key, *help;
};

/// Of all commands that train.
constexpr Shorthand shared[] = {
    {"--text", "PATH", "data.text", "text file, folder of text files, or folder of prepared tokens"},
    {"--tokenizer", "char|byte|PATH", "data.vocabulary",
     "characters, bytes, or the file or folder of a tokenizer"},
    {"--out", "FOLDER", "run.out", "folder for checkpoints, log and report (default: runs/<name>)"},
    {"--steps", "N", "train.steps", "optimizer updates"},
    {"--batch", "N", "train.batch", "sequences per micro-batch"},
    {"--context", "N", "model.context", "tokens per sequence, and how far back the model looks"},
    {"--lr", "RATE", "optimizer.lr", "peak learning rate"},
    {"--patience", "N", "train.patience", "stop after this many evaluations without a lower loss; 0: never"},
    {"--freeze", "PATTERNS", "train.freeze", "parameters that are not trained: \"transformer.wte*,*.bias\""},
    {"--train-only", "PATTERNS", "train.train_only", "the only parameters that are trained"},
    {"--leaves", "N", "train.leaves", "groups of micro-batches whose gradients are added in a fixed order"},
    {"--threads", "N", "run.threads", "threads (default: all cores)"},
    {"--zero", "0|1|2", "distributed.zero",
     "what several processes share of the memory: 0 nothing, 1 the optimizer's state, 2 also the gradients"},
    {"--seed", "N", "run.seed", "seed of everything that is random"},
    {"--device", "cpu|cuda|cuda:N", "run.device", "where to compute"},
    {"--dtype", "fp32|bf16|fp8", "run.dtype",
     "number format of the computation; fp8: bf16, with linear layers in 8 bits"},
};

/// Of finetune.
constexpr Shorthand adapters[] = {
    {"--lora-rank", "N", "lora.rank", "train LoRA adapters of this rank instead of the model"},
    {"--lora-alpha", "NUMBER", "lora.alpha", "scale adapters by alpha / rank (default: twice the rank)"},
    {"--lora-dropout", "NUMBER", "lora.dropout", "probability of dropping an input of an adapter"},
    {"--lora-targets", "NAMES", "lora.targets",
     "layers that get an adapter: c_attn,c_fc or all-linear (default: PEFT's)"},
};

struct Given {
  train::TrainRequest request;
  std::vector<std::string> settings;  ///< "key=value"
};

/// Puts "key=value" into `settings`, which lives as long as the command.
void add(CLI::App* command, const Shorthand& shorthand, std::vector<std::string>* settings) {
  command
      ->add_option_function<std::string>(
          shorthand.option,
          [command, shorthand, settings](const std::string& value) {
            // A script's variable that was never set; training on something else would be the worse answer.
            if (value.empty()) {
              throw train::UsageError(
                  fmt::format("{}: the value of {} is empty", command->get_name(), shorthand.option));
            }
            settings->push_back(fmt::format("{}={}", shorthand.key, value));
          },
          shorthand.help)
      ->type_name(shorthand.type);
}

void add_config(CLI::App* command, train::TrainRequest& request) {
  command->add_option("--config", request.config, "TOML file that sets keys, which are listed below")
      ->type_name("FILE");
}

void add_set(CLI::App* command, train::TrainRequest& request) {
  command->add_option("--set", request.set, "set a key: --set optimizer.lr=1e-3 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

std::optional<train::TrainConfig> default_config(const std::string& path) {
  if (path == "train" || path == "plan") return train::TrainConfig{};
  if (path == "finetune") return train::finetune_defaults();
  return std::nullopt;
}

std::vector<KeyHelp> describe_keys(train::TrainConfig defaults) {
  std::vector<KeyHelp> keys;
  for (const train::ConfigField& field : train::config_fields(defaults)) {
    const std::string value =
        std::visit([](auto* pointer) { return fmt::format("{}", *pointer); }, field.value);
    keys.push_back({field.key, value.empty() ? "-" : value, field.help});
  }
  return keys;
}

std::string option_of_key(const CLI::App& command, const std::string& key) {
  for (const std::span<const Shorthand> list : {std::span<const Shorthand>(shared), {adapters}}) {
    for (const Shorthand& shorthand : list) {
      if (shorthand.key == key && command.get_option_no_throw(shorthand.option) != nullptr)
        return shorthand.option;
    }
  }
  return "--set " + key + "=VALUE";
}

void add_config_options(CLI::App* command, train::TrainRequest& request,
                        std::initializer_list<std::string_view> keys) {
  add_config(command, request);
  add_set(command, request);  // options are read in this order, and --set replaces the list
  for (const Shorthand& shorthand : shared)
    if (std::ranges::find(keys, shorthand.key) != keys.end()) add(command, shorthand, &request.set);
}

void add_run_options(CLI::App* command, Action& action, bool finetune) {
  const auto given = std::make_shared<Given>();
  if (finetune) {
    command
        ->add_option("--from", given->request.from,
                     "folder of the model to begin with: a Hugging Face model, a run or a checkpoint")
        ->type_name("FOLDER");
  }
  add_config(command, given->request);
  command
      ->add_option("--resume", given->request.resume, "folder of a run to continue exactly where it stopped")
      ->type_name("FOLDER");
  for (const Shorthand& shorthand : shared) add(command, shorthand, &given->settings);
  if (finetune) {
    for (const Shorthand& shorthand : adapters) add(command, shorthand, &given->settings);
    command->get_option("--context")->description("tokens per sequence (default: the model's, at most 256)");
  }
  add_set(command, given->request);
  command->callback([=, &action] {
    train::TrainRequest request = given->request;
    if (finetune && !request.from && !request.resume) {
      throw train::UsageError(fmt::format(
          "finetune: --from FOLDER is missing (folder of the model to begin with), for example: {}",
          examples_of(*command).front()));
    }
    request.set.insert(request.set.end(), given->settings.begin(), given->settings.end());
    action = [request] { return train::run_training(request, stdout, comm::world()); };
  });
}

}  // namespace cladtorch::apps
