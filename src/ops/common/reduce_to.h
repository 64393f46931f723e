// Undoing a broadcast: the gradient of a stretched operand.
#pragma once

#include "ops/common/target.h"

namespace cladtorch::detail {

/// *d += x summed over the dimensions that broadcasting `shape` to x's shape stretched. A sum over nothing is
/// shared instead of copied.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape);

/// The sum of dense rows x [rows, n], added one after the other. T is float or double.
template <class T>
void sum_rows(int64_t rows, int64_t n, const T* x, Target<T> sum);

}  // namespace cladtorch::detail
