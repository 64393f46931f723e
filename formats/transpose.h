// Transposing matrices of any numbers at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cladtorch::formats {

/// out [columns, rows] = in [rows, columns] transposed, of numbers of `word` bytes: 2, 4 or 8. They are
/// anywhere in memory, without overlap.
void transpose(const std::byte* in, int64_t rows, int64_t columns, size_t word, std::byte* out);

}  // namespace cladtorch::formats
