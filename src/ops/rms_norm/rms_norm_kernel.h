// RMS normalization of dense rows in raw memory. Its pullback is in layer_norm_kernel.h.
#pragma once

#include "ops/common/rows.h"
#include "ops/rms_norm/rms_norm_math.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

/// y [n] of x [n] and weight [n]; rstd may be null.
template <class C>
void rms_norm_row_of(int64_t n, const C* x, const C* weight, double epsilon, C* y, C* rstd) {
  if constexpr (std::is_same_v<C, double>) {
    const double found = rms_norm_row(n, x, weight, epsilon, y);
    if (rstd) *rstd = found;
  } else {
    simd::kernels().rms_norm_row(n, x, weight, static_cast<float>(epsilon), y, rstd);
  }
}

/// y [rows, n] of x [rows, n] and weight [n]; rstd [rows] may be null. For bfloat16 everything but x and y is
/// float.
template <class T, class C = Computed<T>>
void rms_norm(int64_t rows, int64_t n, const T* x, const C* weight, double epsilon, T* y, C* rstd) {
  for_each_row<T>(rows, n, 2, [&](int64_t row, const RowMemory<T>& memory) {
    const C* const from = readable(n, x + row * n, memory[0]);
    const Written<T> to(n, y + row * n, false, memory[1]);
    rms_norm_row_of(n, from, weight, epsilon, to.data(), rstd ? rstd + row : nullptr);
  });
}

/// The same of x = a + b, rounded to `sum` [rows, n].
template <class T, class C = Computed<T>>
void add_rms_norm(int64_t rows, int64_t n, const T* a, const T* b, const C* weight, double epsilon, T* sum,
                  T* y, C* rstd) {
  for_each_row<T>(rows, n, 3, [&](int64_t row, const RowMemory<T>& memory) {
    add_row(n, a + row * n, b + row * n, sum + row * n, memory);
    const C* const from = readable(n, sum + row * n, memory[0]);
    const Written<T> to(n, y + row * n, false, memory[1]);
    rms_norm_row_of(n, from, weight, epsilon, to.data(), rstd ? rstd + row : nullptr);
  });
}

}  // namespace cladtorch::detail
