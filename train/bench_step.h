// What `cladtorch bench` times: one model, its gradient and optimizer on one batch.
#pragma once

#include <chrono>
#include <memory>

#include "cladtorch/train/adamw.h"
#include "cladtorch/train/bench.h"
#include "train/device_step.h"

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

  const LanguageModel& model() const { return *model_; }
  /// Its float32 weights, from which a bfloat16 model is rounded.
  const LanguageModel& master() const { return *master_; }
  const LanguageModel& gradient() const { return *gradient_; }
  bool is_on_cpu() const { return device_step_ == nullptr; }
  Device device() const { return model_->device(); }
  const Tensor& tokens() const { return tokens_; }
  const Tensor& targets() const { return targets_; }
  size_t arena_bytes() const { return workspace_.statistics(device()).arena_bytes; }

 private:
  void queue_step();

  std::unique_ptr<LanguageModel> master_, model_, gradient_;
  TensorList gradients_;
  AdamW optimizer_;
  std::unique_ptr<Float8Layers> float8_;  // null unless the dtype is fp8
  Tensor tokens_, targets_;
  Workspace workspace_;
  std::unique_ptr<DeviceStep> device_step_;  // on a CUDA device
  uint64_t steps_ = 0;
};

template <class F>
double milliseconds(F&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace cladtorch::train
