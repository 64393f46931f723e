// Reductions.
#pragma once

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Sum and mean of all elements, as a rank-0 tensor. The order of additions depends only on the shape, never
/// on the number of threads. The mean of no elements is an Error.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

/// Reverses a broadcast of `shape` to x's shape by summing over the dimensions that it expanded.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// `shape` with size 1 in the dimension `dim`, and 1 / the size of `dim`. Both throw Error for a dimension
/// that does not exist, and the factor also for one of size 0.
Shape reduced_shape(const Shape& shape, int64_t dim);
double mean_factor(const Shape& shape, int64_t dim);

/// Sum and mean along one dimension; negative ones count from the last. With `keepdim` the dimension stays,
/// with size 1. The mean over no elements is an Error.
inline Tensor sum(const Tensor& x, int64_t dim, bool keepdim = false) {
  const Tensor y = sum_to(x, reduced_shape(x.shape(), dim));
  if (keepdim) return y;
  return y.squeeze(dim);
}
inline Tensor mean(const Tensor& x, int64_t dim, bool keepdim = false) {
  return scale(sum(x, dim, keepdim), mean_factor(x.shape(), dim));
}

/// The properties of a tensor that a gradient needs if it does not need the values.
struct ShapeState {
  Shape shape;
  DType dtype = DType::float32;
  Device device{};
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Shape;
using ::cladtorch::ShapeState;
using ::cladtorch::Tensor;

Tensor sum_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state);
void sum_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
Tensor mean_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state);
void mean_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
Tensor sum_to_reverse_forw(const Tensor& x, const Shape& shape, pullback_state<ShapeState>& state);
void sum_to_pullback(CLAD_UNUSED const Tensor& x, const Shape& shape, Tensor d_y, Tensor* d_x,
                     pullback_state<ShapeState>& state);
}  // namespace clad::custom_derivatives::cladtorch
