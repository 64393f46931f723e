// The linear layer.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// out [N, OC] = inp [N, C] weight^T + bias, with weight [OC, C] and bias [OC] or null. See linear() in
/// ops/matmul.h.
template <class T>
void matmul_forward(T* out, const T* inp, const T* weight, const T* bias, int64_t N, int64_t C, int64_t OC);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {

template <class T>
void matmul_forward_pullback(CLAD_UNUSED T* out, const T* inp, const T* weight, const T* bias, int64_t N,
                             int64_t C, int64_t OC, T* d_out, T* d_inp, T* d_weight, T* d_bias);

}  // namespace clad::custom_derivatives::cladtorch::kernels
