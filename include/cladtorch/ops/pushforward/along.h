// Tangents of operations along one dimension.
#pragma once

#include <vector>

#include "cladtorch/ops/along.h"
#include "cladtorch/ops/pushforward/arithmetic.h"

namespace clad::custom_derivatives::cladtorch {

inline Tangent cat_pushforward(const std::vector<Tensor>& parts, int64_t dim,
                               const std::vector<Tensor>& d_parts) {
  std::vector<Tensor> filled;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i < d_parts.size() && d_parts[i].defined()) {
      filled.push_back(d_parts[i]);
    } else {
      filled.push_back(::cladtorch::zeros(parts[i].shape(), parts[i].dtype(), parts[i].device()));
    }
  }
  return {ops::cat(parts, dim), ops::cat(filled, dim)};
}

template <std::size_t N>
Tangent cat_pushforward(const Tensor (&parts)[N], int64_t dim, const Tensor (&d_parts)[N]) {
  Tensor filled[N];
  for (std::size_t i = 0; i < N; ++i)
    filled[i] = d_parts[i].defined()
                    ? d_parts[i]
                    : ::cladtorch::zeros(parts[i].shape(), parts[i].dtype(), parts[i].device());
  return {ops::cat(parts, dim), ops::cat(filled, dim)};
}

inline Tangent flip_pushforward(const Tensor& x, int64_t dim, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::flip(x, dim), Tensor()};
  return {ops::flip(x, dim), ops::flip(d_x, dim)};
}
inline Tangent cumsum_pushforward(const Tensor& x, int64_t dim, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::cumsum(x, dim), Tensor()};
  return {ops::cumsum(x, dim), ops::cumsum(d_x, dim)};
}

inline Tangent amax_pushforward(const Tensor& x, int64_t dim, bool keepdim, const Tensor& d_x) {
  const Tensor y = ops::amax(x, dim, keepdim);
  if (!d_x.defined()) return {y, Tensor()};
  const Tensor share = ops::tangents::share_of_extreme(x, ops::amax(x, dim, true), dim);
  return {y, ops::sum(ops::mul(d_x, share), dim, keepdim)};
}
inline Tangent amin_pushforward(const Tensor& x, int64_t dim, bool keepdim, const Tensor& d_x) {
  const Tensor y = ops::amin(x, dim, keepdim);
  if (!d_x.defined()) return {y, Tensor()};
  const Tensor share = ops::tangents::share_of_extreme(x, ops::amin(x, dim, true), dim);
  return {y, ops::sum(ops::mul(d_x, share), dim, keepdim)};
}

}  // namespace clad::custom_derivatives::cladtorch
