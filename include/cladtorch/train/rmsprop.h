// The RMSprop optimizer.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< decay of the means
  double eps = 1e-8;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, as in PyTorch
  double momentum = 0;      ///< 0: none, and no memory for it
  bool centered = false;    ///< divides by the deviation of the gradient, for which it keeps its mean too
};

/// With the gradient g of a parameter p, and means v and a and a buffer b that start at zero,
///
///     g += weight_decay p,   v = alpha v + (1 - alpha) g^2,   a = alpha a + (1 - alpha) g
///     b = momentum b + g / (sqrt(centered ? v - a^2 : v) + eps),   p -= lr b
///
/// on the CPU. Source: Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012; centered: Graves, "Generating
/// sequences with recurrent neural networks", 2013; in the form of torch.optim.RMSprop.
class RMSprop : public ElementwiseOptimizer<RMSpropOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<RMSpropOptions>;

}  // namespace cladtorch
