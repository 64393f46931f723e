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
  options.add_flag("--lora-rank", "N", "lora.rank", "train LoRA adapters of this rank instead of the model");
  options.add_flag("--lora-alpha", "NUMBER", "lora.alpha",
                   "adapters count alpha / rank (default: twice the rank)");
  options.add_flag("--lora-dropout", "NUMBER", "lora.dropout",
                   "share of an adapter's inputs that is dropped");
  options.add_flag("--lora-targets", "NAMES", "lora.targets",
                   "layers that get an adapter: c_attn,c_fc or all-linear (default: PEFT's)");
  options.add_flag("--lr", "RATE", "optimizer.lr", "peak learning rate");
  options.add_flag("--context", "N", "model.context",
                   "tokens in a window (default: the model's, at most 256)");
  options.add_flag("--batch", "N", "train.batch", "windows per micro-batch");
  options.add_flag("--patience", "N", "train.patience",
                   "stop after so many evaluations without a lower loss; 0: never");
}

}  // namespace cladtorch::apps
