// Layer normalization of one row and its pullback: the reference for float and double, and the formulas that
// kernels for devices share. With z = (x - mean) rstd,
//   y_i = z_i w_i + b_i,   rstd = 1 / sqrt(variance + epsilon),   g_i = d_y_i w_i
//   d_x_i = rstd (g_i - mean(g) - z_i mean(g z)),   d_w_i += d_y_i z_i,   d_b_i += d_y_i
//   d_epsilon = -rstd^2 / 2 sum(g z)
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
CLADTORCH_HOST_DEVICE inline T layer_norm_d_x(T d_y, T weight, T z, T rstd, T sum, T projected, T n) {
  return rstd * (d_y * weight - sum / n - z * projected / n);
}

template <class T>
void layer_norm_row(int64_t n, const T* x, const T* weight, const T* bias, T epsilon, T* y, T* mean_out,
                    T* rstd_out) {
  T mean = 0, variance = 0;
  for (int64_t i = 0; i < n; ++i) mean += x[i];
  mean /= static_cast<T>(n);
  for (int64_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
  const T rstd = norm_rstd(variance / static_cast<T>(n), epsilon);
  for (int64_t i = 0; i < n; ++i) y[i] = normalized(x[i], mean, rstd) * weight[i] + (bias ? bias[i] : T(0));
  if (mean_out) *mean_out = mean;
  if (rstd_out) *rstd_out = rstd;
}

/// Any of d_x, d_weight and d_bias may be null. Returns sum(g z).
template <class T>
T layer_norm_pullback_row(int64_t n, const T* x, const T* weight, T mean, T rstd, const T* d_y, T* d_x,
                          bool add, T* d_weight, T* d_bias) {
  T sum = 0, projected = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T z = normalized(x[i], mean, rstd), g = d_y[i] * weight[i];
    sum += g;
    projected += g * z;
    if (d_weight) d_weight[i] += d_y[i] * z;
    if (d_bias) d_bias[i] += d_y[i];
  }
  for (int64_t i = 0; d_x && i < n; ++i) {
    const T z = normalized(x[i], mean, rstd);
    const T d = layer_norm_d_x(d_y[i], weight[i], z, rstd, sum, projected, static_cast<T>(n));
    d_x[i] = add ? d_x[i] + d : d;
  }
  return projected;
}

}  // namespace cladtorch::detail
