// Causal self-attention.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// out [B, T, C] of packed queries, keys and values qkv [B, T, 3C], each split into NH heads; the logarithm
/// of each query's sum of exponentials goes to log_sum_exp [B, NH, T]. See causal_attention() in
/// ops/attention.h. The element type is float or double.
template <class Real>
void attention_forward(Real* out, Real* log_sum_exp, const Real* qkv, int64_t B, int64_t T, int64_t C,
                       int64_t NH);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {

/// log_sum_exp has no derivative of its own, so this throws Error if it has a cotangent.
template <class Real>
void attention_forward_pullback(Real* out, Real* log_sum_exp, const Real* qkv, int64_t B, int64_t T,
                                int64_t C, int64_t NH, Real* d_out, Real* d_log_sum_exp, Real* d_qkv);

}  // namespace clad::custom_derivatives::cladtorch::kernels
