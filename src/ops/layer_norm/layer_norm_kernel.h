// Layer normalization of dense rows in raw memory.
#pragma once

#include <cstdint>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// y [rows, n] of x [rows, n], weight [n] and bias [n] or null. mean and rstd [rows] may be null.
/// T is float or double.
template <class T>
void layer_norm(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double epsilon, T* y,
                T* mean, T* rstd);

/// Elements of memory that the pullback works in.
int64_t layer_norm_pullback_work(int64_t rows, int64_t n);

/// `d_epsilon` may be null; it is added to.
template <class T>
void layer_norm_pullback(int64_t rows, int64_t n, const T* x, const T* weight, const T* mean, const T* rstd,
                         const T* d_y, Target<T> d_x, Target<T> d_weight, Target<T> d_bias, double* d_epsilon,
                         T* work);

}  // namespace cladtorch::detail
