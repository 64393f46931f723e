// For compilers that cannot load the plugin.
#include "cladtorch/models/gpt2.h"

namespace cladtorch {

double loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, double) {
  fail("loss_and_gradient: this build has no compiler plugin, so it has no derivatives; build with Clang");
}

void add_loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, const LossSum&) {
  fail("loss_and_gradient: this build has no compiler plugin, so it has no derivatives; build with Clang");
}

}  // namespace cladtorch
