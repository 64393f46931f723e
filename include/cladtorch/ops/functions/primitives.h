// What pointwise functions are made of, for float, double and Dual numbers; src/simd/isa/functions.h has them
// for vectors of floats. A primitive is a function with a tangent: its value and the value's derivative times
// d_x.
#pragma once

#include <cmath>
#include <concepts>
#include <numbers>

#include "cladtorch/tensor/host_device.h"

#ifdef CLADTORCH_DERIVES_FUNCTIONS  // in tools/derive-functions
#include <clad/Differentiator/Differentiator.h>
#endif

namespace cladtorch::functions {

#ifdef CLADTORCH_DERIVES_FUNCTIONS
template <class T>
using Dual = clad::ValueAndPushforward<T, T>;
#else
/// A value and its derivative in some direction.
template <class T>
struct Dual {
  T value, pushforward;

  Dual() = default;
  CLADTORCH_HOST_DEVICE constexpr Dual(T v, T d) : value(v), pushforward(d) {}
  /// A constant.
  CLADTORCH_HOST_DEVICE constexpr explicit Dual(double v) : value(v), pushforward(0) {}
};

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> operator-(Dual<T> a) {
  return {-a.value, -a.pushforward};
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> operator+(Dual<T> a, Dual<T> b) {
  return {a.value + b.value, a.pushforward + b.pushforward};
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> operator-(Dual<T> a, Dual<T> b) {
  return {a.value - b.value, a.pushforward - b.pushforward};
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> operator*(Dual<T> a, Dual<T> b) {
  return {a.value * b.value, a.pushforward * b.value + a.value * b.pushforward};
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> operator/(Dual<T> a, Dual<T> b) {
  const T quotient = a.value / b.value;
  return {quotient, (a.pushforward - quotient * b.pushforward) / b.value};
}
template <class T>
CLADTORCH_HOST_DEVICE inline auto operator<(Dual<T> a, Dual<T> b) {
  return a.value < b.value;
}
template <class T>
CLADTORCH_HOST_DEVICE inline auto operator>(Dual<T> a, Dual<T> b) {
  return a.value > b.value;
}
template <class T>
CLADTORCH_HOST_DEVICE inline auto operator<=(Dual<T> a, Dual<T> b) {
  return a.value <= b.value;
}
template <class T>
CLADTORCH_HOST_DEVICE inline auto operator>=(Dual<T> a, Dual<T> b) {
  return a.value >= b.value;
}
#endif

/// a where the condition holds, else b. Both are computed.
CLADTORCH_HOST_DEVICE inline float where(bool condition, float a, float b) { return condition ? a : b; }
CLADTORCH_HOST_DEVICE inline double where(bool condition, double a, double b) { return condition ? a : b; }
template <class Condition, class T>
CLADTORCH_HOST_DEVICE inline Dual<T> where(Condition condition, Dual<T> a, Dual<T> b) {
  return {where(condition, a.value, b.value), where(condition, a.pushforward, b.pushforward)};
}
template <class Condition, class T>
CLADTORCH_HOST_DEVICE inline Dual<T> where_pushforward(Condition condition, T a, T b, T d_a, T d_b) {
  return where(condition, Dual<T>{a, d_a}, Dual<T>{b, d_b});
}

/// Functions of the language's own library: X(name, slope), of x, where y is the value.
#define CLADTORCH_LIBRARY_PRIMITIVES(X)                   \
  X(exp, y)                                               \
  X(exp2, y* T(std::numbers::ln2))                        \
  X(expm1, y + T(1))                                      \
  X(log, T(1) / x)                                        \
  X(log2, T(std::numbers::log2e) / x)                     \
  X(log10, T(std::numbers::log10e) / x)                   \
  X(log1p, T(1) / (T(1) + x))                             \
  X(sin, cos(x))                                          \
  X(cos, -sin(x))                                         \
  X(tan, T(1) + y * y)                                    \
  X(asin, T(1) / sqrt((T(1) - x) * (T(1) + x)))           \
  X(acos, T(-1) / sqrt((T(1) - x) * (T(1) + x)))          \
  X(atan, T(1) / (T(1) + x * x))                          \
  X(sinh, cosh(x))                                        \
  X(cosh, sinh(x))                                        \
  X(asinh, T(1) / sqrt(x * x + T(1)))                     \
  X(acosh, T(1) / sqrt((x - T(1)) * (x + T(1))))          \
  X(atanh, T(1) / ((T(1) - x) * (T(1) + x)))              \
  X(erf, T(2 * std::numbers::inv_sqrtpi) * exp(-(x * x))) \
  X(erfc, T(-2 * std::numbers::inv_sqrtpi) * exp(-(x * x)))

/// What has code of its own for each type of x.
#define CLADTORCH_OWN_PRIMITIVES(X)         \
  X(sqrt, T(0.5) / y)                       \
  X(tanh, (T(1) - y) * (T(1) + y))          \
  X(sigmoid, y*(T(1) - y))                  \
  X(falling_sigmoid, y*(y - T(1)))          \
  X(normal_distribution, normal_density(x)) \
  X(normal_density, -x* y)                  \
  X(abs, sign(x))                           \
  X(sign, T(0))                             \
  X(floor, T(0))                            \
  X(ceil, T(0))                             \
  X(trunc, T(0))                            \
  X(round, T(0))

// For float and double.

#define CLADTORCH_OF_STANDARD(name, ...)     \
  template <std::floating_point T>           \
  CLADTORCH_HOST_DEVICE inline T name(T x) { \
    return std::name(x);                     \
  }
CLADTORCH_LIBRARY_PRIMITIVES(CLADTORCH_OF_STANDARD)
CLADTORCH_OF_STANDARD(sqrt)
CLADTORCH_OF_STANDARD(tanh)
CLADTORCH_OF_STANDARD(abs)
CLADTORCH_OF_STANDARD(floor)
CLADTORCH_OF_STANDARD(ceil)
CLADTORCH_OF_STANDARD(trunc)
#undef CLADTORCH_OF_STANDARD

/// To the nearest whole number; halves go to the even one.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T round(T x) {
  return std::nearbyint(x);
}
/// 1, -1 or, of 0 and NaN, 0.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T sign(T x) {
  return x > T(0) ? T(1) : (x < T(0) ? T(-1) : T(0));
}
/// 1 / (1 + exp(-x)), with all digits of a small result: exp never overflows, since its argument is not
/// positive.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T sigmoid(T x) {
  const T e = std::exp(-std::abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
/// 1 / (1 + exp(x)), for a factor of x, where a small result matters less than time. For floats in kernels of
/// a GPU it takes three instructions instead of ten: one that reads and writes bfloat16 has time for 27 an
/// element.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T falling_sigmoid(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::same_as<T, float>) return __fdividef(1.0f, 1.0f + __expf(x));
#endif
  return T(1) / (T(1) + std::exp(x));
}
/// The probability of at most x, never as 1 + erf, which cancels for negative x.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T normal_distribution(T x) {
  return std::erfc(-x / std::numbers::sqrt2_v<T>) / T(2);
}
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T normal_density(T x) {
  return std::exp(-x * x / T(2)) * (std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>);
}

// For all types: the tangents, and with them Dual numbers.

#define CLADTORCH_TANGENT(name, slope)                                  \
  template <class T>                                                    \
  CLADTORCH_HOST_DEVICE inline Dual<T> name##_pushforward(T x, T d_x) { \
    [[maybe_unused]] const T y = name(x);                               \
    return {y, d_x * (slope)};                                          \
  }                                                                     \
  template <class T>                                                    \
  CLADTORCH_HOST_DEVICE inline Dual<T> name(Dual<T> x) {                \
    return name##_pushforward(x.value, x.pushforward);                  \
  }
CLADTORCH_LIBRARY_PRIMITIVES(CLADTORCH_TANGENT)
CLADTORCH_OWN_PRIMITIVES(CLADTORCH_TANGENT)
#undef CLADTORCH_TANGENT

// Of two operands.

template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T atan2(T a, T b) {
  return std::atan2(a, b);
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> atan2_pushforward(T a, T b, T d_a, T d_b) {
  return {atan2(a, b), (d_a * b - a * d_b) / (a * a + b * b)};
}

template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T hypot(T a, T b) {
  return std::hypot(a, b);
}
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> hypot_pushforward(T a, T b, T d_a, T d_b) {
  const T y = hypot(a, b);
  return {y, (a * d_a + b * d_b) / y};
}

/// x to the power of p.
template <std::floating_point T>
CLADTORCH_HOST_DEVICE inline T pow(T x, T p) {
  return std::pow(x, p);
}
/// The slope in x is 0 where p is 0, and that in p is 0 where x is 0 and p is not negative.
template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pow_pushforward(T x, T p, T d_x, T d_p) {
  const T y = pow(x, p), zero = T(0);
  const T of_x = where(d_x * d_x > zero, where(p * p > zero, d_x * p * pow(x, p - T(1)), zero), zero);
  const T by_p = d_p * y * log(x), at_zero = where(p < zero, by_p, zero);
  const T of_p = where(d_p * d_p > zero, where(abs(x) <= zero, at_zero, by_p), zero);
  return {y, of_x + of_p};
}
#define CLADTORCH_DUAL(name)                                                   \
  template <class T>                                                           \
  CLADTORCH_HOST_DEVICE inline Dual<T> name(Dual<T> a, Dual<T> b) {            \
    return name##_pushforward(a.value, b.value, a.pushforward, b.pushforward); \
  }
CLADTORCH_DUAL(atan2)
CLADTORCH_DUAL(hypot)
CLADTORCH_DUAL(pow)
#undef CLADTORCH_DUAL

}  // namespace cladtorch::functions
