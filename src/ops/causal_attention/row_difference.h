// How far two results on a device are apart.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// `columns` elements of each of `rows` rows, which lie `row` elements apart.
struct ComparedRows {
  const void* data = nullptr;
  DType dtype = DType::float32;  ///< float32, float64 or bfloat16
  int64_t rows = 0, row = 0, columns = 0;
};

/// |got - expected| / |expected|, Euclidean; NaN if an element of either is not finite. Both have the same
/// shape. Waits for the device.
double relative_difference_on_device(Device device, const ComparedRows& got, const ComparedRows& expected);

}  // namespace cladtorch::cuda
