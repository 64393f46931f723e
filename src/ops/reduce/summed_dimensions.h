// The dimensions of a tensor, sorted into those that stay and those that are summed.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

struct SummedDimensions {
  Shape kept, kept_strides, kept_out_strides;
  Shape summed, summed_strides;

  /// Of x for a dense sum of `shape`, which broadcasts to x's.
  SummedDimensions(const Tensor& x, const Shape& shape) {
    const Shape out_strides = contiguous_strides(shape);
    const int missing = x.dim() - shape.rank();
    for (int i = 0; i < x.dim(); ++i) {
      const bool stays = i >= missing && shape[i - missing] == x.shape()[i];
      if (stays) {
        kept.push_back(x.shape()[i]);
        kept_strides.push_back(x.strides()[i]);
        kept_out_strides.push_back(out_strides[i - missing]);
      } else {
        summed.push_back(x.shape()[i]);
        summed_strides.push_back(x.strides()[i]);
      }
    }
  }
};

}  // namespace cladtorch::detail
