#include "apps/run_options.h"

namespace cladtorch::apps {

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train a model; with no options, on the built-in stories");
  add_run_options(command, action, /*finetune=*/false);
}

void add_finetune(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "finetune", "Continue training a pretrained model, or one of your own, on another text");
  add_run_options(command, action, /*finetune=*/true);
}

}  // namespace cladtorch::apps
