// The AdamW optimizer.
#pragma once

#include <memory>
#include <vector>

#include "cladtorch/train/optimizer.h"

namespace cladtorch {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;  ///< only of matrices (rank 2 and up), not of biases and norms
  /// On CUDA devices, rounds bfloat16 copies of masters up or down at random, so that on average they
  /// equal the masters. On the CPU, and by default, they are rounded to nearest.
  bool stochastic_rounding = false;
};

namespace train {
struct OptimizerTables;
}

/// Adam with decoupled weight decay, one fused pass over memory per step. Source: Loshchilov and Hutter,
/// "Decoupled weight decay regularization", 2019.
///
///     AdamW optimizer(model, {.lr = 6e-4});
///     optimizer.step(gradient);   // updates `model`, then marks `gradient` as zero
class AdamW : public Optimizer {
 public:
  /// Updates the storage behind `parameters` from now on. The moments start at zero and take no memory before
  /// the first step writes them.
  AdamW(TensorList parameters, AdamWOptions options);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  AdamW(Model& model, AdamWOptions options) : AdamW(TensorList(model), options) {}
  /// The same with the caller's masters, whose storage is updated too: float32 tensors that match the
  /// bfloat16 `parameters`, which become their rounded copies. For parameters of another dtype the masters
  /// are the parameters themselves, and must share their storage. Throws Error if the lists do not fit.
  AdamW(TensorList parameters, TensorList masters, AdamWOptions options);

  train::StepInput device_input(double clip, double weight) const override;
  std::vector<OptimizerState> state() const override;
  bool can_share() const override { return true; }

  /// Those that it was made with, but for the learning rate.
  const AdamWOptions& options() const { return options_; }
  TensorList& first_moments() { return first_; }
  TensorList& second_moments() { return second_; }
  const TensorList& first_moments() const { return first_; }
  const TensorList& second_moments() const { return second_; }

 private:
  void update(TensorList& gradients, double gradient_scale) override;
  void update_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) override;

  TensorList first_, second_;
  std::shared_ptr<train::OptimizerTables> tables_;  // for the gradients of the last step on a device
  std::vector<char> fresh_;                         // per parameter: the moments are zero and not written yet
  AdamWOptions options_;
};

}  // namespace cladtorch
