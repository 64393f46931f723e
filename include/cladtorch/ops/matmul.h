// Matrix products.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// a [..., M, K] times b [..., K, N] gives [..., M, N]; leading dimensions broadcast by PyTorch's rules. Both
/// must have rank 2 or more and the same floating dtype, with any strides. Throws Error naming both shapes
/// otherwise. Products of bfloat16 sum in float32 and round once.
Tensor matmul(const Tensor& a, const Tensor& b);

/// x [..., in] times weight [out, in] transposed, plus bias [out]: [..., out] (PyTorch's nn.Linear layout).
/// The bias may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor linear(const Tensor& x, const Tensor& weight);

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;

void matmul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b);

/// d_x = d_y W, d_W = d_y^T x, d_bias = column sums of d_y. Keeps only x; the product is not needed.
void linear_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y, Tensor* d_x,
                     Tensor* d_weight, Tensor* d_bias);
void linear_pullback(const Tensor& x, const Tensor& weight, Tensor d_y, Tensor* d_x, Tensor* d_weight);
}  // namespace clad::custom_derivatives::cladtorch
