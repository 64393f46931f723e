// The NAdam optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct NAdamOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, as in PyTorch
  double momentum_decay = 4e-3;
};

/// Adam with the momentum of Nesterov. With the gradient g of a parameter p, moments m and v that start at
/// zero, the number t of the step, mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) and the product M_t of mu_1
/// to mu_t,
///
///     g += weight_decay p,   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///     p -= lr ((1 - mu_t) / (1 - M_t) g + mu_(t + 1) / (1 - M_(t + 1)) m) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// on the CPU. Source: Dozat, "Incorporating Nesterov momentum into Adam", 2016, in the form of
/// torch.optim.NAdam.
class NAdam : public ElementwiseOptimizer<NAdamOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<NAdamOptions>;

}  // namespace cladtorch
