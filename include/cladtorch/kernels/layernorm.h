// Layer normalization.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// out = (inp - mean) rstd weight + bias in each of N rows of C elements, with their mean [N] and
/// rstd = 1 / sqrt(variance + epsilon) [N]. `bias` may be null. See layer_norm() in ops/normalization.h.
template <class T>
void layernorm_forward(T* out, T* mean, T* rstd, const T* inp, const T* weight, const T* bias, int64_t N,
                       int64_t C, double epsilon = 1e-5);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {

/// mean and rstd have no derivative of their own, so this throws Error if they have a cotangent.
template <class T>
void layernorm_forward_pullback(CLAD_UNUSED T* out, T* mean, T* rstd, const T* inp, const T* weight,
                                const T* bias, int64_t N, int64_t C, double epsilon, T* d_out, T* d_mean,
                                T* d_rstd, T* d_inp, T* d_weight, T* d_bias, double* d_epsilon);

}  // namespace clad::custom_derivatives::cladtorch::kernels
