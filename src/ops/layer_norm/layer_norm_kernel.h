// Layer normalization of dense rows in raw memory, and the pullback that it shares with RMS normalization.
#pragma once

#include <cstdint>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// y [rows, n] of x [rows, n], weight [n] and bias [n] or null. mean and rstd [rows] may be null.
/// T is float, double or bfloat16; for bfloat16 everything but x and y is float.
template <class T>
void layer_norm(int64_t rows, int64_t n, const T* x, const Computed<T>* weight, const Computed<T>* bias,
                double epsilon, T* y, Computed<T>* mean, Computed<T>* rstd);

/// The same of x = a + b, rounded to `sum` [rows, n].
template <class T>
void add_layer_norm(int64_t rows, int64_t n, const T* a, const T* b, const Computed<T>* weight,
                    const Computed<T>* bias, double epsilon, T* sum, T* y, Computed<T>* mean,
                    Computed<T>* rstd);

/// Elements of memory that the pullback works in.
int64_t layer_norm_pullback_work(int64_t rows, int64_t n);

/// `d_epsilon` may be null; it is added to. If `mean` is null, the pullback of rms_norm. For bfloat16
/// everything but x, d_y and d_x is float.
template <class T>
void layer_norm_pullback(int64_t rows, int64_t n, const T* x, const Computed<T>* weight,
                         const Computed<T>* mean, const Computed<T>* rstd, const T* d_y, Target<T> d_x,
                         Target<Computed<T>> d_weight, Target<Computed<T>> d_bias, double* d_epsilon,
                         Computed<T>* work);

}  // namespace cladtorch::detail
