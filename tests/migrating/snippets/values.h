// What a tensor holds.
#pragma once

#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::testing {

inline std::vector<float> values(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

}  // namespace cladtorch::testing
