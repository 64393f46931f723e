// Undoing a broadcast: the gradient of a stretched operand.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// *d += x summed over the dimensions that broadcasting `shape` to x's shape stretched. A sum over nothing is
/// shared instead of copied.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape);

}  // namespace cladtorch::detail
