// Token and position embeddings.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// out [B, T, C] = row tokens[b, t] of wte [V, C] + row t of wpe [positions, C]. Tokens are in [0, V), and T
/// is at most `positions`. The element type is float or double.
template <class Real>
void encoder_forward(Real* out, const int32_t* tokens, const Real* wte, const Real* wpe, int64_t B, int64_t T,
                     int64_t C, int64_t V, int64_t positions);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {

template <class Real>
void encoder_forward_pullback(CLAD_UNUSED Real* out, const int32_t* tokens, CLAD_UNUSED const Real* wte,
                              CLAD_UNUSED const Real* wpe, int64_t B, int64_t T, int64_t C, int64_t V,
                              int64_t positions, Real* d_out, Real* d_wte, Real* d_wpe);

}  // namespace clad::custom_derivatives::cladtorch::kernels
