// Causal attention of bfloat16: heads are widened in groups and go through the kernels of float.
#pragma once

#include "ops/causal_attention/attention_kernel.h"

namespace cladtorch::detail {

/// As attention, cached_attention and attention_pullback of float, which they call; a result is rounded once.
void attention(const AttentionLayout& layout, const AttentionInputs<bfloat16>& in, bfloat16* y,
               float* log_sum_exp);
void cached_attention(const AttentionLayout& layout, const bfloat16* q, const bfloat16* keys,
                      const bfloat16* values, int64_t past, int64_t capacity, bfloat16* y);
void attention_pullback(const AttentionLayout& layout, const AttentionInputs<bfloat16>& in, const bfloat16* y,
                        const float* log_sum_exp, const bfloat16* d_y, const AttentionTargets<bfloat16>& to,
                        float* work);

}  // namespace cladtorch::detail
