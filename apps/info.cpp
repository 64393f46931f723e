#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/report.h"
#include "cladtorch/train/system_info.h"

namespace cladtorch::apps {
namespace {

void describe_program() {
  fmt::print("cladtorch  {} ({})\n", train::version(), train::build_description());
  fmt::print("processor  {} ({})\n", train::cpu_name(), fmt::join(train::cpu_features(), " "));
  fmt::print("threads    {}\n", num_threads());
  fmt::print("peak       {:.0f} GFLOP/s float32, measured\n", train::measure_peak_flops(num_threads()) / 1e9);
}

/// What the run `path`, or the one that the checkpoint `path` lies in, has reached.
void describe_evaluation(const std::filesystem::path& path) {
  for (const std::filesystem::path& run : {path, std::filesystem::absolute(path) / ".."}) {
    if (!std::filesystem::exists(run / "run.json")) continue;
    fmt::print("{}", train::evaluation_text(train::read_run(run)));
    return;
  }
}

void describe_checkpoint(const std::filesystem::path& path) {
  const std::filesystem::path checkpoint = train::find_checkpoint(path);
  const std::unique_ptr<LanguageModel> model = formats::load_model(checkpoint);
  const ModelSizes sizes = model->sizes();
  fmt::print("checkpoint {}\n", checkpoint.string());
  fmt::print("model      {}, {}, context {}, vocabulary {}: {} parameters\n", model->type(), describe(sizes),
             sizes.context, sizes.vocab_size, model->parameter_count());
  if (data::holds_tokenizer(checkpoint)) {
    const data::TokenizerPtr tokenizer = train::load_tokenizer(checkpoint, *model);
    fmt::print("tokenizer  {}, {} tokens\n", tokenizer->kind(), tokenizer->vocab_size());
  }
  if (std::filesystem::exists(checkpoint / "trainer_state.json")) {
    const train::TrainerState state = train::load_trainer_state(checkpoint);
    fmt::print("training   step {} of {}, {}", state.step, state.steps, train::short_duration(state.seconds));
    if (state.val_loss) fmt::print(", validation loss {:.4f}", *state.val_loss);
    if (state.best_val) fmt::print(" (best {:.4f} at step {})", *state.best_val, state.best_step);
    fmt::print("\n");
  }
  describe_evaluation(path);
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("info", "Describe this program and machine, or a checkpoint");
  auto path = std::make_shared<std::filesystem::path>();
  command->add_option("checkpoint", *path, "folder of a run or checkpoint (default: describe the program)")
      ->type_name("FOLDER");
  command->callback([=, &action] {
    action = [=] {
      if (path->empty()) {
        describe_program();
      } else {
        describe_checkpoint(*path);
      }
      return 0;
    };
  });
}

}  // namespace cladtorch::apps
