// Causal attention of bfloat16 by Hopper's warpgroup products.
#pragma once

#include "ops/causal_attention/attention_heads.cuh"

namespace cladtorch::cuda {

/// `operands` hold delta.
void hopper_attention_pullback(const detail::AttentionLayout& layout,
                               const AttentionBackward<bfloat16>& operands, Device device);

}  // namespace cladtorch::cuda
