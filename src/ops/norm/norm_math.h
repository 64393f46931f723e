// Layer and RMS normalization of one row and their pullback: the reference for float and double, and the
// formulas that kernels for devices share. With z = (x - mean) rstd,
//   y_i = z_i w_i + b_i,   rstd = 1 / sqrt(variance + epsilon),   g_i = d_y_i w_i
//   d_x_i = rstd (g_i - mean(g) - z_i mean(g z)),   d_w_i += d_y_i z_i,   d_b_i += d_y_i
//   d_epsilon = -rstd^2 / 2 sum(g z)
// RMS normalization is not centered: there the mean is 0, mean(g) is left out, and there is no bias.
#pragma once

#include <cmath>
#include <cstdint>

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::detail {

template <class T>
CLADTORCH_HOST_DEVICE inline T norm_rstd(T variance, T epsilon) {
  return T(1) / std::sqrt(variance + epsilon);
}

/// z
template <class T>
CLADTORCH_HOST_DEVICE inline T normalized(T x, T mean, T rstd) {
  return (x - mean) * rstd;
}

/// d_x of one element, given the sums of g and g z over the row's n elements; or, for n = 1, their means.
template <class T>
CLADTORCH_HOST_DEVICE inline T norm_d_x(T d_y, T weight, T z, T rstd, T sum, T projected, T n) {
  return rstd * (d_y * weight - sum / n - z * projected / n);
}

/// bias, mean_out and rstd_out may be null.
template <class T>
void norm_row(bool centered, int64_t n, const T* x, const T* weight, const T* bias, T epsilon, T* y,
              T* mean_out, T* rstd_out) {
  T mean = 0, variance = 0;
  for (int64_t i = 0; centered && i < n; ++i) mean += x[i];
  if (centered) mean /= static_cast<T>(n);
  for (int64_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
  const T rstd = norm_rstd(variance / static_cast<T>(n), epsilon);
  for (int64_t i = 0; i < n; ++i) {
    const T scaled = normalized(x[i], mean, rstd) * weight[i];
    y[i] = centered ? scaled + (bias ? bias[i] : T(0)) : scaled;
  }
  if (mean_out) *mean_out = mean;
  if (rstd_out) *rstd_out = rstd;
}

/// `mean` is null if it is not centered. Any of d_x, d_weight and d_bias may be null. Returns sum(g z).
template <class T>
T norm_pullback_row(int64_t n, const T* x, const T* weight, const T* mean, T rstd, const T* d_y, T* d_x,
                    bool add, T* d_weight, T* d_bias) {
  const T center = mean ? *mean : T(0);
  T sum = 0, projected = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T z = normalized(x[i], center, rstd), g = d_y[i] * weight[i];
    if (mean) sum += g;
    projected += g * z;
    if (d_weight) d_weight[i] += d_y[i] * z;
    if (d_bias) d_bias[i] += d_y[i];
  }
  for (int64_t i = 0; d_x && i < n; ++i) {
    const T z = normalized(x[i], center, rstd);
    const T d = norm_d_x(d_y[i], weight[i], z, rstd, sum, projected, static_cast<T>(n));
    d_x[i] = add ? d_x[i] + d : d;
  }
  return projected;
}

}  // namespace cladtorch::detail
