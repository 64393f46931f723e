// The AdamW optimizer.
#pragma once

#include <memory>

#include "cladtorch/train/elementwise_optimizer.h"

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
class AdamW : public ElementwiseOptimizer<AdamWOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;

  train::StepInput device_input(double clip, double weight) const override;

  TensorList& first_moments() { return kept_[0]->values; }
  TensorList& second_moments() { return kept_[1]->values; }
  const TensorList& first_moments() const { return kept_[0]->values; }
  const TensorList& second_moments() const { return kept_[1]->values; }

 private:
  void update_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) override;

  std::shared_ptr<train::OptimizerTables> tables_;  // for the gradients of the last step on a device
};

extern template class ElementwiseOptimizer<AdamWOptions>;

}  // namespace cladtorch
