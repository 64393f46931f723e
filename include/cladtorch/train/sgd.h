// Stochastic gradient descent with momentum.
#pragma once

#include "cladtorch/train/elementwise_optimizer.h"

namespace cladtorch {

struct SGDOptions {
  double lr = 1e-2;
  double momentum = 0.9;  ///< 0: none, and no memory for it
  bool nesterov = false;
  double weight_decay = 0;  ///< only of matrices (rank 2 and up); a part of the gradient, as in PyTorch
};

/// With the gradient g of a parameter p, and the buffer b that starts at zero,
///
///     g += weight_decay p,   b = momentum b + g,   p -= lr (nesterov ? g + momentum b : b)
///
/// on the CPU. Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
/// 2013, in the form of torch.optim.SGD.
class SGD : public ElementwiseOptimizer<SGDOptions> {
 public:
  using ElementwiseOptimizer::ElementwiseOptimizer;
};

extern template class ElementwiseOptimizer<SGDOptions>;

}  // namespace cladtorch
