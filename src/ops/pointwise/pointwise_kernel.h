// Pointwise functions of dense memory, of every floating type.
#pragma once

#include "cladtorch/ops/pointwise_code.h"
#include "ops/common/elementwise.h"

namespace cladtorch::detail {

/// y = f(x)
template <class T>
void run_value(const PointwiseCode& code, const void* f, int64_t n, const T* x, T* y) {
  const auto kernel = [&]<class C>(int64_t count, const C* from, C* to) {
    if constexpr (std::is_same_v<C, double>) {
      code.value.of_double(f, count, from, to);
    } else {
      code.value.of_float(f, count, from, to);
    }
  };
  pointwise(n, Target<T>{y}, kernel, x);
}

/// d_x = or += d_y times the derivative of f at `at`.
template <class T>
void run_slope(const PointwiseCode& code, const void* f, Slope slope, int64_t n, const T* at, const T* d_y,
               Target<T> d_x) {
  const PointwiseSlope& slopes = code.slopes[static_cast<std::size_t>(slope)];
  const auto kernel = [&]<class C>(int64_t count, const C* from, const C* d, C* to) {
    if constexpr (std::is_same_v<C, double>) {
      slopes.of_double(f, count, from, d, to, d_x.add);
    } else {
      slopes.of_float(f, count, from, d, to, d_x.add);
    }
  };
  pointwise(n, d_x, kernel, at, d_y);
}

/// The same for a function of the library.
template <class F, class T>
void function_values(const F& f, int64_t n, const T* x, T* y) {
  run_value(library_code<F>(), &f, n, x, y);
}
template <class F, class T>
void function_pullback(const F& f, int64_t n, const T* at, const T* d_y, Target<T> d_x) {
  run_slope(library_code<F>(), &f, Slope::of_backward, n, at, d_y, d_x);
}

}  // namespace cladtorch::detail
