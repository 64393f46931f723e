// What `cladtorch bench` times: one model, its gradient and optimizer on one batch.
#pragma once

#include <chrono>
#include <memory>

#include "cladtorch/train/bench.h"
#include "train/step/training_step.h"

namespace cladtorch::train {

/// Names of the files in the folder of dump_bench().
constexpr const char* dump_weights = "weights";
constexpr const char* dump_gradient = "gradient";
constexpr const char* dump_batch = "batch.safetensors";

class BenchStep {
 public:
  /// Checks the options, sets the number of threads, and makes or loads tokens.
  BenchStep(const BenchOptions& options, std::unique_ptr<LanguageModel> model);

  double forward();
  /// Leaves the gradient of this call alone in gradient().
  double forward_backward();
  /// Applies it; on the CPU.
  void update();
  double step();
  struct Steps {
    std::vector<double> milliseconds;  ///< of each; on a CUDA device their mean alone
    double loss = 0;                   ///< of the last
  };
  Steps steps(int64_t count);

  const LanguageModel& model() const { return step_.model(); }
  /// Its float32 weights, from which a bfloat16 model is rounded.
  const LanguageModel& master() const { return step_.master(); }
  const LanguageModel& gradient() const { return step_.gradient(); }
  bool is_on_cpu() const { return !step_.runs_ahead(); }
  Device device() const { return step_.device(); }
  const Tensor& tokens() const { return tokens_; }
  const Tensor& targets() const { return targets_; }
  size_t arena_bytes() const { return workspace_.statistics(device()).arena_bytes; }

 private:
  void queue_step();

  Workspace workspace_;
  TrainingStep step_;
  Tensor tokens_, targets_;
  uint64_t steps_ = 0;
};

template <class F>
double milliseconds(F&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace cladtorch::train
