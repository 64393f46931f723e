// GELU of dense memory, for every floating type.
#pragma once

#include "ops/common/elementwise.h"
#include "ops/common/target.h"
#include "ops/gelu_tanh/gelu_tanh_function.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

template <class T>
void gelu_tanh(int64_t n, const T* x, T* y) {
  if constexpr (std::is_same_v<T, double>) {
    map(n, x, y, GeluTanh{});
  } else {
    pointwise(n, Target<T>{y}, simd::kernels().gelu_tanh, x);
  }
}

template <class T>
void gelu_tanh_pullback(int64_t n, const T* x, const T* d_y, Target<T> d_x) {
  if constexpr (std::is_same_v<T, double>) {
    map2(n, x, d_y, d_x, GeluTanhPullback{});
  } else {
    const auto kernel = [&](int64_t count, const float* at, const float* d, float* to) {
      simd::kernels().gelu_tanh_pullback(count, at, d, to, d_x.add);
    };
    pointwise(n, d_x, kernel, x, d_y);
  }
}

}  // namespace cladtorch::detail
