// What `cladtorch bench` times: one model, its gradient and optimizer on one batch.
#pragma once

#include <chrono>

#include "cladtorch/train/bench.h"

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
  void update() { optimizer_.step(gradients_); }
  double step() {
    const double loss = forward_backward();
    update();
    return loss;
  }

  const LanguageModel& model() const { return *model_; }
  /// Its float32 weights, from which a bfloat16 model is rounded.
  const LanguageModel& master() const { return *master_; }
  const LanguageModel& gradient() const { return *gradient_; }
  const Tensor& tokens() const { return tokens_; }
  const Tensor& targets() const { return targets_; }
  size_t arena_bytes() const { return workspace_.statistics().arena_bytes; }

 private:
  std::unique_ptr<LanguageModel> master_, model_, gradient_;
  TensorList gradients_;
  AdamW optimizer_;
  Tensor tokens_, targets_;
  Workspace workspace_;
};

template <class F>
double milliseconds(F&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace cladtorch::train
