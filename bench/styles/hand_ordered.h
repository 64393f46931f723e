// A step of GPT-2 as a hand-written sequence of kernel calls: what each style of writing a model is measured
// against. Here alone a backward pass is written by hand.
#pragma once

#include "cladtorch/models/gpt2_arena.h"

namespace cladtorch::bench {

/// The loss, and its gradient stored to d_p: no contribution is added where it is the first, and the residual
/// stream's cotangent is read where it lies. The memory is laid out as for the arena model.
double hand_ordered_step(const gpt2_arena::Parameters& p, const gpt2_arena::Activations& a,
                         const int32_t* tokens, const int32_t* targets, const gpt2_arena::Size& s,
                         const gpt2_arena::Parameters& d_p, const gpt2_arena::Activations& d_a);

}  // namespace cladtorch::bench
