// Causal attention of bfloat16 by Hopper's warpgroup products.
#pragma once

#include "ops/causal_attention/attention_heads.cuh"

namespace cladtorch::cuda {

/// Whether the device and the program have these kernels, and the operands suit them: those that
/// flash_attention takes. d_y of the pullback must begin at a multiple of 16 bytes.
bool hopper_attention_supports(const detail::AttentionLayout& layout, const detail::AttentionOperands& in);

void hopper_attention(const detail::AttentionLayout& layout, const detail::AttentionOperands& in,
                      int64_t past, Tensor& y, Tensor& log_sum_exp);
/// `operands` hold delta.
void hopper_attention_pullback(const detail::AttentionLayout& layout,
                               const AttentionBackward<bfloat16>& operands, Device device);

}  // namespace cladtorch::cuda
