// New weights for layers; undefined ones under SkipInitialization.
#pragma once

#include "cladtorch/tensor/factories.h"

namespace cladtorch::nn {

/// Uniform in +-bound.
Tensor initial_uniform(const Shape& shape, Random& random, double bound, DType dtype);

}  // namespace cladtorch::nn
