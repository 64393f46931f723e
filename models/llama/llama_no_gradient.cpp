// In place of llama_gradient.cpp where the compiler loads no plugin.
#include "cladtorch/models/llama.h"

namespace cladtorch {

double loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, double) {
  fail("Llama: this build has no gradients: it was not compiled by Clang with the plugin");
}

void add_loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, const LossSum&) {
  fail("loss_and_gradient: this build has no compiler plugin, so it has no derivatives; build with Clang");
}

}  // namespace cladtorch
