// The options of the commands that train.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/training_run.h"

namespace cladtorch::apps {

/// The defaults of the command at `path` if it takes --config and --set.
std::optional<train::TrainConfig> default_config(const std::string& path);

/// A line of the list of keys that --help ends with.
struct KeyHelp {
  std::string name, value, help;
};
std::vector<KeyHelp> describe_keys(train::TrainConfig defaults);

/// "--batch", or for a key that has no option of its own "--set train.accumulate=VALUE".
std::string option_of_key(const CLI::App& command, const std::string& key);

/// --config, --set and the short names of these keys, which all go to `request`.
void add_config_options(CLI::App* command, train::TrainRequest& request,
                        std::initializer_list<std::string_view> keys);

/// --config, --resume, --set and the short names of keys; with `finetune` also --from, which the command then
/// needs unless it resumes, and the short names of what adapters have. Running the TrainRequest that they
/// make is the command's action.
void add_run_options(CLI::App* command, Action& action, bool finetune);

}  // namespace cladtorch::apps
