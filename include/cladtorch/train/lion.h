// The Lion optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct LionOptions {
  double lr = 1e-4;  ///< a third to a tenth of AdamW's, because every step is as long as it can be
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); decoupled, as AdamW's
};

/// With the gradient g of a parameter p, and the mean m that starts at zero,
///
///     p = (1 - lr weight_decay) p - lr sign(beta1 m + (1 - beta1) g),   m = beta2 m + (1 - beta2) g
///
/// on the CPU. Source: Chen et al., "Symbolic discovery of optimization algorithms", 2023.
class Lion : public ElementwiseOptimizer<LionOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<LionOptions>;

}  // namespace cladtorch
