// Integers that select elements, and those that are targets.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// int32 as they are, and int64 as int32. Throws Error naming `operation`, and `what` the integers are, if
/// they are of another dtype, or on the CPU if int32 does not hold one. On a CUDA device that one becomes the
/// nearest, which no tensor has either.
Tensor as_int32(const char* operation, const char* what, const Tensor& indices);

}  // namespace cladtorch::detail
