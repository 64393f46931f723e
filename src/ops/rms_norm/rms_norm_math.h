// RMS normalization of one row and its pullback: the reference for float and double. With z = x rstd,
//   y_i = z_i w_i,   rstd = 1 / sqrt(mean(x^2) + epsilon),   g_i = d_y_i w_i
//   d_x_i = rstd (g_i - z_i mean(g z)),   d_w_i += d_y_i z_i,   d_epsilon = -rstd^2 / 2 sum(g z)
#pragma once

#include <cmath>
#include <cstdint>

namespace cladtorch::detail {

/// Returns rstd.
template <class T>
T rms_norm_row(int64_t n, const T* x, const T* weight, T epsilon, T* y) {
  T squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += x[i] * x[i];
  const T rstd = T(1) / std::sqrt(squares / static_cast<T>(n) + epsilon);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * rstd * weight[i];
  return rstd;
}

/// d_x and d_weight may be null. Returns sum(g z).
template <class T>
T rms_norm_pullback_row(int64_t n, const T* x, const T* weight, T rstd, const T* d_y, T* d_x, bool add,
                        T* d_weight) {
  T projected = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T z = x[i] * rstd;
    projected += d_y[i] * weight[i] * z;
    if (d_weight) d_weight[i] += d_y[i] * z;
  }
  for (int64_t i = 0; d_x && i < n; ++i) {
    const T d = rstd * (d_y[i] * weight[i] - x[i] * rstd * projected / static_cast<T>(n));
    d_x[i] = add ? d_x[i] + d : d;
  }
  return projected;
}

}  // namespace cladtorch::detail
