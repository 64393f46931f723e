// Layer and RMS normalization of dense rows in raw memory, and their pullback.
#pragma once

#include <cstdint>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// y = the normalization of x, both [rows, n], as in Norm. T is float, double or bfloat16; for
/// bfloat16 the operands and results of type Computed<T> are float.
template <class T>
struct NormRows {
  int64_t rows, n;
  const T* x;
  const T* added = nullptr;  ///< [rows, n] or null; then x + added is normalized, and left, rounded, in `sum`
  T* sum = nullptr;
  const Computed<T>* weight;          ///< [n]
  const Computed<T>* bias = nullptr;  ///< [n] or null
  double epsilon;
  bool centered = true;  ///< layer normalization; else RMS normalization, which knows no mean and no bias
  T* y;
  Computed<T>*mean = nullptr, *rstd = nullptr;  ///< [rows] or null
};

template <class T>
void normalize(const NormRows<T>& to);

/// Elements of memory that the pullback works in.
int64_t norm_pullback_work(int64_t rows, int64_t n);

/// `d_epsilon` may be null; it is added to. If `mean` is null, the pullback of RMS normalization. For
/// bfloat16 everything but x, d_y and d_x is float.
template <class T>
void norm_pullback(int64_t rows, int64_t n, const T* x, const Computed<T>* weight, const Computed<T>* mean,
                   const Computed<T>* rstd, const T* d_y, Target<T> d_x, Target<Computed<T>> d_weight,
                   Target<Computed<T>> d_bias, double* d_epsilon, Computed<T>* work);

}  // namespace cladtorch::detail
