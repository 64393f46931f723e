// The numbers of a stored tensor in memory, and back.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/io/stored_tensor.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::formats {

/// The type that files have for a dtype.
io::StoredType stored_type(DType dtype);

/// Copies the stored numbers into `parameter`, converted to its dtype. `transposed` says that the file has
/// the transpose of a matrix. Throws Error beginning with `where` for shapes that differ or a type that is
/// not floating.
void read_values(const io::StoredTensor& stored, bool transposed, Tensor& parameter,
                 const std::string& where);

/// Gives parameters as the bytes that a file keeps of them, one after the other.
class StoredBytes {
 public:
  /// `parameter` or its transpose as `type`: f32, f16, bf16 or f64. Numbers are rounded once, but from
  /// float64 to 16 bits by way of float32. Valid until the next call.
  std::span<const std::byte> of(const Tensor& parameter, io::StoredType type, bool transposed = false);

 private:
  Tensor dense_;
  std::vector<std::byte> converted_;
};

}  // namespace cladtorch::formats
