// Without the rules: cladtorch/ops/fusion.h is not included.
#include <clad/Differentiator/Differentiator.h>

#include "steps.h"

double not_fused(const naive::GPT2& model, const naive::Tensor& tokens, const naive::Tensor& targets,
                 naive::GPT2* gradient) {
  return clad::value_and_gradient(naive::loss, "model").execute(model, tokens, targets, gradient);
}
