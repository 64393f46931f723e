// A training run that takes a moment.
#pragma once

#include <string>
#include <vector>

namespace cladtorch::integration {

/// What makes a run into the folder "run" take a moment, whatever the model is.
inline std::vector<std::string> small_run() {
  std::vector<std::string> arguments = {"--out", "run", "--threads", "1"};
  for (const char* setting :
       {"data.story_bytes=20000", "model.context=32", "train.batch=2", "train.steps=6", "train.eval_every=3",
        "train.eval_batches=2", "train.log_every=1", "train.max_minutes=0", "schedule.warmup=2",
        "sample.count=1", "sample.tokens=20"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return arguments;
}

/// `train` of a tiny model on a little of the built-in text, then `more`.
inline std::vector<std::string> small_train(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = small_run();
  arguments.insert(arguments.begin(), "train");
  for (const char* size : {"model.layers=1", "model.heads=2", "model.channels=16"})
    arguments.insert(arguments.end(), {"--set", size});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace cladtorch::integration
