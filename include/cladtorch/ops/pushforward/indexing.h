// Tangents of operations with conditions and indices, which are linear in the rest.
#pragma once

#include "cladtorch/ops/indexing.h"
#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::tangents {

/// d, or zeros like x.
inline Tensor filled(const Tensor& d, const Tensor& x) {
  if (d.defined()) return d;
  return zeros(x.shape(), x.dtype(), x.device());
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

inline Tangent where_pushforward(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor&,
                                 const Tensor& d_a, const Tensor& d_b) {
  const Tensor y = ops::where(condition, a, b);
  if (!d_a.defined() && !d_b.defined()) return {y, Tensor()};
  return {y, ops::where(condition, ops::tangents::filled(d_a, a), ops::tangents::filled(d_b, b))};
}
inline Tangent where_pushforward(const Tensor& condition, const Tensor& a, double b, const Tensor&,
                                 const Tensor& d_a, double d_b) {
  return {ops::where(condition, a, b), ops::where(condition, ops::tangents::filled(d_a, a), d_b)};
}
inline Tangent where_pushforward(const Tensor& condition, double a, const Tensor& b, const Tensor&,
                                 double d_a, const Tensor& d_b) {
  return {ops::where(condition, a, b), ops::where(condition, d_a, ops::tangents::filled(d_b, b))};
}

inline Tangent gather_pushforward(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& d_x,
                                  const Tensor&) {
  const Tensor y = ops::gather(x, dim, index);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::gather(d_x, dim, index)};
}
inline Tangent scatter_add_pushforward(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                                       const Tensor& d_x, const Tensor&, const Tensor& d_src) {
  const Tensor y = ops::scatter_add(x, dim, index, src);
  if (!d_src.defined()) return {y, d_x};
  return {y, ops::scatter_add(ops::tangents::filled(d_x, x), dim, index, d_src)};
}
inline Tangent scatter_pushforward(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                                   const Tensor& d_x, const Tensor&, const Tensor& d_src) {
  const Tensor y = ops::scatter(x, dim, index, src);
  if (!d_x.defined() && !d_src.defined()) return {y, Tensor()};
  return {y, ops::scatter(ops::tangents::filled(d_x, x), dim, index, ops::tangents::filled(d_src, src))};
}

}  // namespace clad::custom_derivatives::cladtorch
