#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/ops/fusion.h"
#include "steps.h"

double fused_by_compiler(const naive::GPT2& model, const naive::Tensor& tokens, const naive::Tensor& targets,
                         naive::GPT2* gradient) {
  return clad::value_and_gradient(naive::loss, "model").execute(model, tokens, targets, gradient);
}
const char* code_fused_by_compiler() { return clad::gradient(naive::loss, "model").getCode(); }
