// Loops over dense bfloat16 memory, vectorized for each instruction set. Arithmetic is in float; a result is
// rounded once. All variants give the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::detail {

struct Bfloat16Kernels {
  const char* name;
  void (*widen)(int64_t n, const bfloat16* from, float* to);
  void (*narrow)(int64_t n, const float* from, bfloat16* to);
  void (*add)(int64_t n, const bfloat16* x, bfloat16* sum);    ///< sum += x
  void (*add_wide)(int64_t n, const bfloat16* x, float* sum);  ///< sum += x
};

/// Those that this processor runs, the fastest last.
std::span<const Bfloat16Kernels> bfloat16_kernels();

inline void widen(int64_t n, const bfloat16* from, float* to) {
  bfloat16_kernels().back().widen(n, from, to);
}
inline void narrow(int64_t n, const float* from, bfloat16* to) {
  bfloat16_kernels().back().narrow(n, from, to);
}

/// sum[i] += x[i].
inline void add_to(int64_t n, const bfloat16* x, bfloat16* sum) { bfloat16_kernels().back().add(n, x, sum); }
inline void add_to(int64_t n, const bfloat16* x, float* sum) {
  bfloat16_kernels().back().add_wide(n, x, sum);
}

}  // namespace cladtorch::detail
