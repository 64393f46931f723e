// Whether two tensors are the same to the last bit.
#pragma once

#include <cstring>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::testing {

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && a.is_contiguous() && b.is_contiguous() &&
         std::memcmp(a.data(), b.data(), a.nbytes()) == 0;
}

}  // namespace cladtorch::testing
