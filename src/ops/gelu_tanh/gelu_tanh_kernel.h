// GELU of dense memory.
#pragma once

#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/target.h"
#include "ops/gelu_tanh/gelu_tanh_math.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

struct ScalarExp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
  template <class T>
  static T reciprocal_of(T x) {
    return 1 / x;
  }
};

template <class T>
void gelu_tanh(int64_t n, const T* x, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
      simd::kernels().gelu_tanh(end - begin, x + begin, y + begin);
    });
  } else {
    map(n, x, y, [](T v) { return gelu_tanh_value<T>(v, ScalarExp{}); });
  }
}

template <class T>
void gelu_tanh_pullback(int64_t n, const T* x, const T* d_y, Target<T> d_x) {
  if constexpr (std::is_same_v<T, float>) {
    parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
      simd::kernels().gelu_tanh_pullback(end - begin, x + begin, d_y + begin, d_x.data + begin, d_x.add);
    });
  } else {
    map2(n, x, d_y, d_x.data, d_x.add, [](T v, T d) { return d * gelu_tanh_derivative<T>(v, ScalarExp{}); });
  }
}

}  // namespace cladtorch::detail
