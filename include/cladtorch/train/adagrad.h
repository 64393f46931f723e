// The Adagrad optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;               ///< only of matrices (rank 2 and up); a part of the gradient
  double initial_accumulator_value = 0;  ///< where the sum of squares starts; written at once unless 0
  double eps = 1e-10;
};

/// With the gradient g of a parameter p, the sum s of squares, and the number t of the step,
///
///     g += weight_decay p,   s += g^2,   p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)
///
/// on the CPU. Source: Duchi et al., "Adaptive subgradient methods for online learning and stochastic
/// optimization", 2011, in the form of torch.optim.Adagrad.
class Adagrad : public ElementwiseOptimizer<AdagradOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<AdagradOptions>;

}  // namespace cladtorch
