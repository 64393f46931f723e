// How much memory the activations of a step take, without a step.
#pragma once

#include <cstdint>

#include "cladtorch/models/language_model.h"

namespace cladtorch::train {

/// Bytes of activations that the plan of a step's memory has on the CPU, within a few percent, for a
/// micro-batch of so many tokens in sequences that are not packed. `dtype` is that of the step, whatever the
/// model has. Throws Error for a model that is neither a GPT-2 nor a Llama.
double activation_bytes(const LanguageModel& model, DType dtype, int64_t tokens);

}  // namespace cladtorch::train
