// The gradient of the loss of a language model: the compiler plugin writes it where a function of this file
// is used. Include it only where the plugin is loaded.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/models/loss.h"
#include "cladtorch/ops/fusion.h"

namespace cladtorch {

template <class Model, class>
double loss_and_gradient(const Model& model, const Tensor& tokens, const Tensor& targets, Model* gradient,
                         double weight) {
  auto step = clad::value_and_gradient(weighted_loss<Model>, "model");
  return step.execute(model, tokens, targets, weight, gradient);
}

template <class Model, class>
void add_loss_and_gradient(const Model& model, const Tensor& tokens, const Tensor& targets, Model* gradient,
                           const LossSum& sum) {
  auto step = clad::gradient(summed_loss<Model>, "model, loss");
  Tensor loss, d_loss = sum.weight;
  step.execute(model, tokens, targets, sum, loss, gradient, &d_loss);
}

}  // namespace cladtorch
