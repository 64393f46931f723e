// Tangents of triangles, diagonals, padding and windows.
#pragma once

#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/shape.h"

namespace clad::custom_derivatives::cladtorch {

inline Tangent pad_pushforward(const Tensor& x, const Shape& amounts, PadMode mode, double value,
                               const Tensor& d_x, double d_value) {
  const Tensor y = ops::pad(x, amounts, mode, value);
  if (d_x.defined()) return {y, ops::pad(d_x, amounts, mode, d_value)};
  return {y, ops::pad(ops::zeros(x.shape(), x.dtype()), amounts, mode, d_value)};
}
inline Tangent tril_pushforward(const Tensor& x, int64_t diagonal, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::tril(x, diagonal), Tensor()};
  return {ops::tril(x, diagonal), ops::tril(d_x, diagonal)};
}
inline Tangent triu_pushforward(const Tensor& x, int64_t diagonal, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::triu(x, diagonal), Tensor()};
  return {ops::triu(x, diagonal), ops::triu(d_x, diagonal)};
}
inline Tangent diagonal_pushforward(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2,
                                    const Tensor& d_x) {
  if (!d_x.defined()) return {ops::diagonal(x, offset, dim1, dim2), Tensor()};
  return {ops::diagonal(x, offset, dim1, dim2), ops::diagonal(d_x, offset, dim1, dim2)};
}
inline Tangent diag_embed_pushforward(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2,
                                      const Tensor& d_x) {
  if (!d_x.defined()) return {ops::diag_embed(x, offset, dim1, dim2), Tensor()};
  return {ops::diag_embed(x, offset, dim1, dim2), ops::diag_embed(d_x, offset, dim1, dim2)};
}
inline Tangent unfold_pushforward(const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options,
                                  const Tensor& d_x) {
  if (!d_x.defined()) return {ops::unfold(x, kernel, options), Tensor()};
  return {ops::unfold(x, kernel, options), ops::unfold(d_x, kernel, options)};
}
inline Tangent fold_pushforward(const Tensor& columns, const PerDimension& size, const PerDimension& kernel,
                                const UnfoldOptions& options, const Tensor& d_columns) {
  if (!d_columns.defined()) return {ops::fold(columns, size, kernel, options), Tensor()};
  return {ops::fold(columns, size, kernel, options), ops::fold(d_columns, size, kernel, options)};
}

}  // namespace clad::custom_derivatives::cladtorch
