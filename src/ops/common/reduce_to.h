// Undoing a broadcast: the gradient of a stretched operand.
#pragma once

#include "ops/common/target.h"

namespace cladtorch::detail {

/// *d += x summed over the dimensions that broadcasting `shape` to x's shape stretched. A sum over nothing is
/// shared instead of copied.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape);

/// The same for float32 terms of a gradient of `dtype`: a sum that belongs to a bfloat16 gradient is rounded
/// once.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape, DType dtype);

/// The sum of dense rows x [rows, n], added one after the other. T is float or double, and Out the
/// same; or T is bfloat16, sums are in float, and Out is either.
template <class T, class Out>
void sum_rows(int64_t rows, int64_t n, const T* x, Target<Out> sum);

}  // namespace cladtorch::detail
