// The RAdam optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct RAdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, as in PyTorch
};

/// Adam that trusts the mean square of the gradient only when it has seen enough. With the gradient g of a
/// parameter p, moments m and v that start at zero, the number t of the step, R = 2 / (1 - beta2) - 1 and
/// r = R - 2 t beta2^t / (1 - beta2^t),
///
///     g += weight_decay p,   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///     s = sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r)) sqrt(1 - beta2^t) / (sqrt(v) + eps) if r > 5, else 1
///     p -= lr s m / (1 - beta1^t)
///
/// on the CPU. Source: Liu et al., "On the variance of the adaptive learning rate and beyond", 2019, in the
/// form of torch.optim.RAdam.
class RAdam : public ElementwiseOptimizer<RAdamOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<RAdamOptions>;

}  // namespace cladtorch
