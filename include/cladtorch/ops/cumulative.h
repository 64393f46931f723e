// Products along one dimension, on the CPU.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// y[i] = x[0] x[1] ... x[i] along `dim`, multiplied one after the other; bfloat16 in float32. The derivative
/// is exact where elements are 0.
Tensor cumprod(const Tensor& x, int64_t dim);

/// The product along `dim`, which stays with size 1 if `keepdim`, and that of all elements. There must be
/// one.
inline Tensor prod(const Tensor& x, int64_t dim, bool keepdim = false) {
  require(x.size(dim) > 0, "prod: dimension ", dim, " of shape ", x.shape(), " is empty");
  const Tensor y = cumprod(x, dim).narrow(dim, x.size(dim) - 1, 1);
  if (keepdim) return y;
  return y.squeeze(dim);
}
inline Tensor prod(const Tensor& x) { return prod(x.flatten(), 0); }

namespace tangents {
/// That of cumprod(x, dim) for the tangent d of x: t[i] = t[i - 1] x[i] + y[i - 1] d[i].
Tensor of_cumprod(const Tensor& x, const Tensor& d, int64_t dim);
}  // namespace tangents

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;
void cumprod_pullback(const Tensor& x, int64_t dim, Tensor d_y, Tensor* d_x);
}  // namespace clad::custom_derivatives::cladtorch

namespace clad::custom_derivatives::cladtorch::tangents {
void of_cumprod_pullback(const Tensor& x, const Tensor& d, int64_t dim, Tensor d_t, Tensor* d_x, Tensor* d_d);
}  // namespace clad::custom_derivatives::cladtorch::tangents
