// Elementwise kernels.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// out [n] = GELU of inp, in its tanh form: gelu_tanh() in ops/activation.h.
template <class T>
void gelu_forward(T* out, const T* inp, int64_t n);

/// out [n] = a + b.
template <class T>
void residual_forward(T* out, const T* a, const T* b, int64_t n);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {

template <class T>
void gelu_forward_pullback(CLAD_UNUSED T* out, const T* inp, int64_t n, T* d_out, T* d_inp);

/// d_a or d_b may be the memory of d_out: a sum passes its cotangent on unchanged, so there is nothing to do
/// for that operand. Throws Error if both are.
template <class T>
void residual_forward_pullback(CLAD_UNUSED T* out, CLAD_UNUSED const T* a, CLAD_UNUSED const T* b, int64_t n,
                               T* d_out, T* d_a, T* d_b);

}  // namespace clad::custom_derivatives::cladtorch::kernels
