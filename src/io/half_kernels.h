// Loops over IEEE half precision (binary16), vectorized for each instruction set. All variants give the same
// bits. Source: IEEE 754-2008.
#pragma once

#include <cstdint>
#include <span>

namespace cladtorch::io {

struct HalfKernels {
  const char* name;
  void (*widen)(int64_t n, const uint16_t* from, float* to);
  void (*narrow)(int64_t n, const float* from, uint16_t* to);  ///< to nearest even; NaN stays NaN
};

/// Those that this processor runs, the fastest last.
std::span<const HalfKernels> half_kernels();

}  // namespace cladtorch::io
