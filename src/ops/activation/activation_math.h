// Values and derivatives of pointwise functions for float and double; kernel() is what computes values of
// float.
#pragma once

#include <cmath>
#include <numbers>

#include "simd/kernels.h"
#include "tensor/host_device.h"

namespace cladtorch::detail {

struct Relu {
  static constexpr const char* name = "relu";
  /// NaN stays NaN.
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T x) {
    return x > T(0) ? T(1) : T(0);
  }
};

struct Log {
  static constexpr const char* name = "log";
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return std::log(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T x) {
    return T(1) / x;
  }
};

struct Erf {
  static constexpr const char* name = "erf";
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return std::erf(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T x) {
    return T(2) * std::numbers::inv_sqrtpi_v<T> * std::exp(-x * x);
  }
};

/// Derivatives of all that follow are written in terms of y.
struct Tanh {
  static constexpr const char* name = "tanh";
  static auto kernel() { return simd::kernels().tanh; }
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T y) {
    return (T(1) - y) * (T(1) + y);
  }
};

struct Sigmoid {
  static constexpr const char* name = "sigmoid";
  static auto kernel() { return simd::kernels().sigmoid; }
  /// exp never overflows: its argument is not positive.
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    const T e = std::exp(-std::abs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T y) {
    return y * (T(1) - y);
  }
};

struct Exp {
  static constexpr const char* name = "exp";
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return std::exp(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T y) {
    return y;
  }
};

struct Sqrt {
  static constexpr const char* name = "sqrt";
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return std::sqrt(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T y) {
    return T(0.5) / y;
  }
};

struct Rsqrt {
  static constexpr const char* name = "rsqrt";
  template <class T>
  CLADTORCH_HOST_DEVICE static T value(T x) {
    return T(1) / std::sqrt(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE static T derivative(T y) {
    return T(-0.5) * y * y * y;
  }
};

/// As a function of an element, and the pullback from what the derivative is written in.
template <class Math>
struct ValueOf {
  static constexpr const char* name = Math::name;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return Math::value(x);
  }
};
template <class Math>
struct PullbackOf {
  static constexpr const char* name = Math::name;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T at, T d_y) const {
    return d_y * Math::derivative(at);
  }
};

}  // namespace cladtorch::detail
