// The options of the commands that train.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "cladtorch/train/training_run.h"

namespace cladtorch::apps {

/// Fills a TrainRequest from the options of one command; it is the command's action.
class RunOptions {
 public:
  /// --config, --resume, --set, the flags that all of them have, and the list of keys with these defaults.
  RunOptions(CLI::App* command, Action& action, const train::TrainConfig& defaults);

  /// A flag that is a short name of a key.
  void add_flag(const char* flag, const char* value_name, const char* key, const char* help);
  /// --from, which the command then needs unless it resumes.
  void add_from();

 private:
  struct Given {
    train::TrainRequest request;
    std::vector<std::string> flags;  ///< "key=value"
    bool needs_from = false;
  };

  CLI::App* command_;
  std::shared_ptr<Given> given_ = std::make_shared<Given>();
};

}  // namespace cladtorch::apps
