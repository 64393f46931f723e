// A tensor as dense rows of its last dimension.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

inline int64_t row_length(const Tensor& x) { return x.dim() == 0 ? 1 : x.shape().back(); }
inline int64_t row_count(const Tensor& x) {
  const int64_t length = row_length(x);
  return length == 0 ? 0 : x.numel() / length;
}

/// Rows per parallel piece, for about 16 thousand elements each.
inline int64_t row_grain(int64_t length) { return length >= 1 << 14 ? 1 : (1 << 14) / (length ? length : 1); }

}  // namespace cladtorch::detail
