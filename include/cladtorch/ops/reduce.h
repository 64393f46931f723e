// Reductions to one element.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Sum and mean of all elements, as a rank-0 tensor. The order of additions depends on the shape alone, never
/// on the number of threads. The mean of no elements is an Error.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

/// Adds up the dimensions that broadcasting `shape` to x's shape had stretched.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// What a gradient needs of a tensor when its values do not matter.
struct ShapeState {
  Shape shape;
  DType dtype = DType::float32;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::ShapeState;
using ::cladtorch::Tensor;

Tensor sum_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state);
void sum_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
Tensor mean_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state);
void mean_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
}  // namespace clad::custom_derivatives::cladtorch
