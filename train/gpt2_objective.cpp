#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

Objective gpt2_objective() {
  return {.value = [](const GPT2& model, const Tensor& tokens,
                      const Tensor& targets) { return loss(model, tokens, targets); },
          .value_and_gradient = loss_and_gradient};
}

}  // namespace cladtorch::train
