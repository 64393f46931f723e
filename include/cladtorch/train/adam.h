// The Adam optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, unlike AdamW's
};

/// With the gradient g of a parameter p, moments m and v that start at zero, and the number t of the step,
///
///     g += weight_decay p,   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///     p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// on the CPU. Source: Kingma and Ba, "Adam: A method for stochastic optimization", 2015, in the form of
/// torch.optim.Adam.
class Adam : public ElementwiseOptimizer<AdamOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<AdamOptions>;

}  // namespace cladtorch
