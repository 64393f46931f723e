// What optimizers that update each number by itself have in common.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "cladtorch/train/optimizer.h"

namespace cladtorch {

/// Updates each number from its gradient and from a few numbers that are kept beside it, in one pass over
/// memory per step. `Options` hold the numbers of the formula, with `lr` and `weight_decay` among them.
/// train/step/elementwise.h says how a formula is written.
template <class Options>
class ElementwiseOptimizer : public Optimizer {
 public:
  /// Updates the storage behind `parameters` from now on. What is kept starts at zero and takes no memory
  /// before the first step writes it.
  ElementwiseOptimizer(TensorList parameters, Options options);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  ElementwiseOptimizer(Model& model, Options options) : ElementwiseOptimizer(TensorList(model), options) {}
  /// The same with the caller's masters, whose storage is updated too: float32 tensors that match the
  /// bfloat16 `parameters`, which become their rounded copies. For parameters of another dtype the masters
  /// are the parameters themselves, and must share their storage. Throws Error if the lists do not fit.
  ElementwiseOptimizer(TensorList parameters, TensorList masters, Options options);

  std::vector<OptimizerState> state() const override;
  bool can_share() const override { return true; }

  /// Those that it was made with, but for the learning rate.
  const Options& options() const { return options_; }

 protected:
  struct Kept {
    const char* name;
    TensorList values;
    std::vector<char> fresh;  // per parameter: zero and not written yet
  };

  Options options_;
  std::vector<std::optional<Kept>> kept_;  // nothing where the options do without

 private:
  void make_state();
  void update(TensorList& gradients, double gradient_scale) override;
};

}  // namespace cladtorch
