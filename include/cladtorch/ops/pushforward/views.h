// Tangents of Tensor's own methods. Each is the same view of the tangent.
#pragma once

#include <vector>

#include "cladtorch/ops/pushforward/arithmetic.h"

namespace clad::custom_derivatives::class_functions {
using Tangent = ::clad::ValueAndPushforward<Tensor, Tensor>;

inline ValueAndPushforward<double, double> item_pushforward(const Tensor* x, const Tensor* d_x) {
  double d_y = 0;
  if (d_x->defined()) d_y = d_x->item();
  return {x->item(), d_y};
}
inline Tangent reshape_pushforward(const Tensor* x, const Shape& shape, const Tensor* d_x) {
  if (!d_x->defined()) return {x->reshape(shape), Tensor()};
  return {x->reshape(shape), d_x->reshape(shape)};
}
inline Tangent flatten_pushforward(const Tensor* x, const Tensor* d_x) {
  if (!d_x->defined()) return {x->flatten(), Tensor()};
  return {x->flatten(), d_x->flatten()};
}
inline Tangent transpose_pushforward(const Tensor* x, int64_t dim0, int64_t dim1, const Tensor* d_x) {
  if (!d_x->defined()) return {x->transpose(dim0, dim1), Tensor()};
  return {x->transpose(dim0, dim1), d_x->transpose(dim0, dim1)};
}
inline Tangent permute_pushforward(const Tensor* x, const Shape& dims, const Tensor* d_x) {
  if (!d_x->defined()) return {x->permute(dims), Tensor()};
  return {x->permute(dims), d_x->permute(dims)};
}
inline Tangent narrow_pushforward(const Tensor* x, int64_t dim, int64_t start, int64_t length,
                                  const Tensor* d_x) {
  if (!d_x->defined()) return {x->narrow(dim, start, length), Tensor()};
  return {x->narrow(dim, start, length), d_x->narrow(dim, start, length)};
}
inline Tangent slice_pushforward(const Tensor* x, int64_t dim, int64_t start, int64_t end,
                                 const Tensor* d_x) {
  if (!d_x->defined()) return {x->slice(dim, start, end), Tensor()};
  return {x->slice(dim, start, end), d_x->slice(dim, start, end)};
}
inline Tangent select_pushforward(const Tensor* x, int64_t dim, int64_t index, const Tensor* d_x) {
  if (!d_x->defined()) return {x->select(dim, index), Tensor()};
  return {x->select(dim, index), d_x->select(dim, index)};
}
inline ValueAndPushforward<std::vector<Tensor>, std::vector<Tensor>> split_pushforward(const Tensor* x,
                                                                                       int64_t size,
                                                                                       int64_t dim,
                                                                                       const Tensor* d_x) {
  const std::vector<Tensor> parts = x->split(size, dim);
  if (!d_x->defined()) return {parts, std::vector<Tensor>(parts.size())};
  return {parts, d_x->split(size, dim)};
}
inline Tangent unsqueeze_pushforward(const Tensor* x, int64_t dim, const Tensor* d_x) {
  if (!d_x->defined()) return {x->unsqueeze(dim), Tensor()};
  return {x->unsqueeze(dim), d_x->unsqueeze(dim)};
}
inline Tangent squeeze_pushforward(const Tensor* x, int64_t dim, const Tensor* d_x) {
  if (!d_x->defined()) return {x->squeeze(dim), Tensor()};
  return {x->squeeze(dim), d_x->squeeze(dim)};
}
inline Tangent expand_pushforward(const Tensor* x, const Shape& shape, const Tensor* d_x) {
  if (!d_x->defined()) return {x->expand(shape), Tensor()};
  return {x->expand(shape), d_x->expand(shape)};
}
inline Tangent contiguous_pushforward(const Tensor* x, const Tensor* d_x) { return {x->contiguous(), *d_x}; }
inline Tangent clone_pushforward(const Tensor* x, const Tensor* d_x) { return {x->clone(), *d_x}; }
inline Tangent to_pushforward(const Tensor* x, DType dtype, const Tensor* d_x) {
  // Rounding to an integer is a step.
  if (!d_x->defined() || !::cladtorch::is_floating(dtype)) return {x->to(dtype), Tensor()};
  return {x->to(dtype), d_x->to(dtype)};
}

}  // namespace clad::custom_derivatives::class_functions
