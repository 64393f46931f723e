// For compilers that cannot load the plugin.
#include "cladtorch/models/gpt2.h"
#include "models/loss_no_gradient.h"

namespace cladtorch {

template double loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, double);
template double loss_and_gradient(const LoRAGPT2&, const Tensor&, const Tensor&, LoRAGPT2*, double);
template void add_loss_and_gradient(const GPT2&, const Tensor&, const Tensor&, GPT2*, const LossSum&);
template void add_loss_and_gradient(const LoRAGPT2&, const Tensor&, const Tensor&, LoRAGPT2*, const LossSum&);

}  // namespace cladtorch
