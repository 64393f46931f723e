// The derivative of the arena model's loss, which the compiler plugin writes.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/models/gpt2_arena.h"

namespace cladtorch::gpt2_arena {

const char* loss_gradient_code() {
  auto step = clad::value_and_gradient(loss, "p, a");
  return step.getCode();
}

double loss_and_gradient(const Parameters& p, Activations& a, const int32_t* tokens, const int32_t* targets,
                         const Size& s, Parameters* d_p, Activations* d_a) {
  auto step = clad::value_and_gradient(loss, "p, a");
  return step.execute(p, a, tokens, targets, s, d_p, d_a);
}

}  // namespace cladtorch::gpt2_arena
