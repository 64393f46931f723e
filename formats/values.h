// The numbers of a stored tensor in memory, and back.
#pragma once

#include <string>

#include "cladtorch/io/stored_tensor.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::formats {

/// The type that files have for float32, float64 or bfloat16.
io::StoredType stored_type(DType dtype);

/// Copies the stored numbers into `parameter`, converted to its dtype. `transposed` says that the file has
/// the transpose of a matrix. Throws Error beginning with `where` for shapes that differ or a type that is
/// not floating.
void read_values(const io::StoredTensor& stored, bool transposed, Tensor& parameter,
                 const std::string& where);

/// The dense tensor that a file keeps of `parameter`: itself, or its transpose.
Tensor values_to_store(const Tensor& parameter, bool transposed);

}  // namespace cladtorch::formats
