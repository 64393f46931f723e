// The derivative of the Llama loss. The compiler plugin writes it from loss() and everything that loss()
// calls; this is the only file of the library that asks for it.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/models/llama.h"
#include "cladtorch/ops/fusion.h"

namespace cladtorch {

double loss_and_gradient(const Llama& model, const Tensor& tokens, const Tensor& targets, Llama* gradient,
                         double weight) {
  auto step = clad::value_and_gradient(weighted_loss, "model");
  return step.execute(model, tokens, targets, weight, gradient);
}

void add_loss_and_gradient(const Llama& model, const Tensor& tokens, const Tensor& targets, Llama* gradient,
                           const LossSum& sum) {
  auto step = clad::gradient(summed_loss, "model, loss");
  Tensor loss, d_loss = sum.weight;
  step.execute(model, tokens, targets, sum, loss, gradient, &d_loss);
}

}  // namespace cladtorch
