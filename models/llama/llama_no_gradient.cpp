// For compilers that cannot load the plugin.
#include "cladtorch/models/llama.h"
#include "models/loss_no_gradient.h"

namespace cladtorch {

template double loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, double);
template double loss_and_gradient(const LoRALlama&, const Tensor&, const Tensor&, LoRALlama*, double);
template void add_loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, const LossSum&);
template void add_loss_and_gradient(const LoRALlama&, const Tensor&, const Tensor&, LoRALlama*,
                                    const LossSum&);

}  // namespace cladtorch
