// Whether two tensors are the same to the last bit.
#pragma once

#include <cstring>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::testing {

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data(), y.data(), x.nbytes()) == 0;
}

}  // namespace cladtorch::testing
