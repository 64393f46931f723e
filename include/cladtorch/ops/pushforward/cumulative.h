// Tangents of products along one dimension.
#pragma once

#include "cladtorch/ops/cumulative.h"
#include "cladtorch/ops/pushforward/arithmetic.h"

namespace clad::custom_derivatives::cladtorch {

inline Tangent cumprod_pushforward(const Tensor& x, int64_t dim, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::cumprod(x, dim), Tensor()};
  return {ops::cumprod(x, dim), ops::tangents::of_cumprod(x, d_x, dim)};
}

}  // namespace clad::custom_derivatives::cladtorch
