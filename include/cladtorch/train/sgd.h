// Stochastic gradient descent with momentum.
#pragma once

#include <optional>
#include <vector>

#include "cladtorch/train/optimizer.h"

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
class SGD : public Optimizer {
 public:
  /// Updates the storage behind `parameters` from now on.
  SGD(TensorList parameters, SGDOptions options);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  SGD(Model& model, SGDOptions options) : SGD(TensorList(model), options) {}
  /// The same with the caller's masters; see AdamW.
  SGD(TensorList parameters, TensorList masters, SGDOptions options);

  std::vector<OptimizerState> state() const override;
  bool can_share() const override { return true; }

 private:
  void update(TensorList& gradients, double gradient_scale) override;

  SGDOptions options_;
  std::optional<TensorList> buffers_;
  std::vector<char> fresh_;  // per parameter: the buffer is zero and not written yet
};

}  // namespace cladtorch
