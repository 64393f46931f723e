// The derivatives of the Llama loss. The compiler plugin writes them from mean_loss() and everything that it
// calls; this is the only file of the library that asks for them.
#include "cladtorch/models/loss_gradient.h"

#include "cladtorch/models/llama.h"

namespace cladtorch {

template double loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, double);
template double loss_and_gradient(const LoRALlama&, const Tensor&, const Tensor&, LoRALlama*, double);
template void add_loss_and_gradient(const Llama&, const Tensor&, const Tensor&, Llama*, const LossSum&);
template void add_loss_and_gradient(const LoRALlama&, const Tensor&, const Tensor&, LoRALlama*,
                                    const LossSum&);

}  // namespace cladtorch
