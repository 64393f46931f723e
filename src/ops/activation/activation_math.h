// Values and derivatives of relu, tanh and sigmoid for float and double; kernel() is what computes values of
// float.
#pragma once

#include <cmath>

#include "simd/kernels.h"

namespace cladtorch::detail {

struct Relu {
  /// NaN stays NaN.
  template <class T>
  static T value(T x) {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  static T derivative(T x) {
    return x > T(0) ? T(1) : T(0);
  }
};

/// Derivatives of the next two are written in terms of y.
struct Tanh {
  static auto kernel() { return simd::kernels().tanh; }
  template <class T>
  static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  static T derivative(T y) {
    return (T(1) - y) * (T(1) + y);
  }
};

struct Sigmoid {
  static auto kernel() { return simd::kernels().sigmoid; }
  /// exp never overflows: its argument is not positive.
  template <class T>
  static T value(T x) {
    const T e = std::exp(-std::abs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
  template <class T>
  static T derivative(T y) {
    return y * (T(1) - y);
  }
};

}  // namespace cladtorch::detail
