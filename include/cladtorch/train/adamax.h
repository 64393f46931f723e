// The Adamax optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct AdamaxOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, as in PyTorch
};

/// With the gradient g of a parameter p, a mean m and a size u that start at zero, and the number t of the
/// step,
///
///     g += weight_decay p,   m = beta1 m + (1 - beta1) g,   u = max(beta2 u, |g| + eps)
///     p -= lr / (1 - beta1^t) m / u
///
/// on the CPU. Source: Kingma and Ba, "Adam: A method for stochastic optimization", 2015, section 7, in the
/// form of torch.optim.Adamax.
class Adamax : public ElementwiseOptimizer<AdamaxOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<AdamaxOptions>;

}  // namespace cladtorch
