// Softmax of one row and its pullback: the reference for float and double, and the formulas that kernels for
// devices share.
//   y_i = exp(x_i - max) / sum_j exp(x_j - max),   d_x_i = y_i (d_y_i - sum_j d_y_j y_j)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/common/scalar_exp.h"

namespace cladtorch::detail {

/// The largest element; NaN if any is.
template <class T>
T maximum(int64_t n, const T* x) {
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) largest = x[i] > largest || x[i] != x[i] ? x[i] : largest;
  return largest;
}

/// log(sum exp(x)); -inf for no elements.
template <class T>
T log_sum_exp(int64_t n, const T* x) {
  const T largest = maximum(n, x);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

template <class T>
void softmax_row(int64_t n, const T* x, T* y) {
  const T largest = maximum(n, x);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - largest);
  for (int64_t i = 0; i < n; ++i) y[i] /= sum;
}

/// y_i = x_i - log sum_j exp(x_j),   d_x_i = d_y_i - exp(y_i) sum_j d_y_j
template <class T>
void log_softmax_row(int64_t n, const T* x, T log_sum_exp, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - log_sum_exp;
}
template <class T>
CLADTORCH_HOST_DEVICE inline T log_softmax_d_x(T y, T d_y, T sum) {
  return d_y - ScalarExp{}(y)*sum;
}
template <class T>
void log_softmax_pullback_row(int64_t n, const T* y, const T* d_y, T* d_x, bool add) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += d_y[i];
  for (int64_t i = 0; i < n; ++i) {
    const T d = log_softmax_d_x(y[i], d_y[i], sum);
    d_x[i] = add ? d_x[i] + d : d;
  }
}

template <class T>
CLADTORCH_HOST_DEVICE inline T softmax_d_x(T y, T d_y, T projection) {
  return y * (d_y - projection);
}
template <class T>
void softmax_pullback_row(int64_t n, const T* y, const T* d_y, T* d_x, bool add) {
  T projection = 0;
  for (int64_t i = 0; i < n; ++i) projection += d_y[i] * y[i];
  for (int64_t i = 0; i < n; ++i) {
    const T d = softmax_d_x(y[i], d_y[i], projection);
    d_x[i] = add ? d_x[i] + d : d;
  }
}

}  // namespace cladtorch::detail
