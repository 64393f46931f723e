// Values and derivatives of pointwise functions for float and double; kernel() is what computes values of
// float.
#pragma once

#include <cmath>
#include <numbers>

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

struct Log {
  template <class T>
  static T value(T x) {
    return std::log(x);
  }
  template <class T>
  static T derivative(T x) {
    return T(1) / x;
  }
};

struct Erf {
  template <class T>
  static T value(T x) {
    return std::erf(x);
  }
  template <class T>
  static T derivative(T x) {
    return T(2) * std::numbers::inv_sqrtpi_v<T> * std::exp(-x * x);
  }
};

/// Derivatives of all that follow are written in terms of y.
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

struct Exp {
  template <class T>
  static T value(T x) {
    return std::exp(x);
  }
  template <class T>
  static T derivative(T y) {
    return y;
  }
};

struct Sqrt {
  template <class T>
  static T value(T x) {
    return std::sqrt(x);
  }
  template <class T>
  static T derivative(T y) {
    return T(0.5) / y;
  }
};

struct Rsqrt {
  template <class T>
  static T value(T x) {
    return T(1) / std::sqrt(x);
  }
  template <class T>
  static T derivative(T y) {
    return T(-0.5) * y * y * y;
  }
};

}  // namespace cladtorch::detail
