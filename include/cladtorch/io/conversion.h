// Converts between the element types of files and float32.
#pragma once

#include <cstddef>
#include <span>

#include "cladtorch/io/stored_tensor.h"

namespace cladtorch::io {

/// Whether to_float32() takes `type`: f64, f32, f16, bf16 and the five types of 8-bit floats. Integers are
/// not parameters, c64 is not real, and the format does not say how f4 and f6 are packed.
bool converts_to_float32(StoredType type);

/// Writes the values of `from` to `to`, which has element_count(from) places. It is exact except for f64,
/// which is rounded to nearest even. Throws cladtorch::Error for types that converts_to_float32() refuses.
void to_float32(const StoredTensor& from, std::span<float> to);

/// Writes `from`, rounded to nearest even, as f32, f64, f16 or bf16 to `to`, which must be large enough.
/// Throws cladtorch::Error for other types. A number too large for f16 becomes infinite.
void from_float32(std::span<const float> from, StoredType type, std::span<std::byte> to);

}  // namespace cladtorch::io
