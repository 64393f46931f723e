#include "apps/run_options.h"

namespace cladtorch::apps {

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train a model; with no options, on the built-in stories");
  RunOptions(command, action, {});
}

void add_finetune(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("finetune", "Train a model of others, or one of yours, on another text");
  RunOptions options(command, action, train::finetune_defaults());
  options.add_from();
  options.add_flag("--lr", "RATE", "optimizer.lr", "peak learning rate");
  options.add_flag("--context", "N", "model.context",
                   "tokens in a window (default: the model's, at most 256)");
  options.add_flag("--batch", "N", "train.batch", "windows per micro-batch");
  options.add_flag("--patience", "N", "train.patience",
                   "stop after so many evaluations without a lower loss; 0: never");
}

}  // namespace cladtorch::apps
