// In place of loss_gradient.h where the compiler loads no plugin.
#pragma once

#include "cladtorch/models/loss.h"

namespace cladtorch {

template <class Model, class>
double loss_and_gradient(const Model&, const Tensor&, const Tensor&, Model*, double) {
  fail("loss_and_gradient: this build has no compiler plugin, so it has no derivatives; build with Clang");
}

template <class Model, class>
void add_loss_and_gradient(const Model&, const Tensor&, const Tensor&, Model*, const LossSum&) {
  fail("loss_and_gradient: this build has no compiler plugin, so it has no derivatives; build with Clang");
}

}  // namespace cladtorch
