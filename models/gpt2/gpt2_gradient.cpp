// The derivatives of the GPT-2 loss. The compiler plugin writes them from mean_loss() and everything that it
// calls; this is the only file of the library that asks for them.
#include "cladtorch/models/loss_gradient.h"

#include "cladtorch/models/gpt2.h"

namespace cladtorch {

const char* loss_gradient_code() {
  auto step = clad::value_and_gradient(weighted_loss<GPT2>, "model");
  return step.getCode();
}

template double loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, double);
template double loss_and_gradient(const LoRAGPT2&, const Tensor&, const Tensor&, LoRAGPT2*, double);
template void add_loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, const LossSum&);
template void add_loss_and_gradient(const LoRAGPT2&, const Tensor&, const Tensor&, LoRAGPT2*, const LossSum&);

}  // namespace cladtorch
