// Pullbacks of the gamma function and related functions, of Bessel functions, orthogonal polynomials and
// elliptic integrals. Each derivative uses only functions that have derivatives too, so that it can be
// differentiated again.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "clad/Differentiator/BuiltinDerivatives.h"

namespace clad::builtin_derivatives {

using std::tan;
using std::tgamma;

/// The logarithmic derivative of the gamma function: by recurrence to x > 10, then the asymptotic series
/// (Abramowitz and Stegun, 6.3.5 and 6.3.18); by reflection where x < 0.
template <real T>
constexpr T digamma(T x) {
  T sum = 0;
  if (x <= 0) {
    const T pi = T(3.14159265358979323846264338327950288L);
    sum -= pi / tan(pi * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const T z = 1 / (x * x);
  const T series =
      z * (T(1) / 12 -
           z * (T(1) / 120 -
                z * (T(1) / 252 - z * (T(1) / 240 - z * (T(1) / 132 - z * (T(691) / 32760 - z / 12))))));
  return sum + log(x) - 1 / (2 * x) - series;
}
template <real T>
constexpr void lgamma_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * digamma(x);
}
template <real T>
constexpr void tgamma_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * tgamma(x) * digamma(x);
}

// Bessel functions of the C library, which standard headers need not declare: Abramowitz and Stegun, 9.1.27.
#if defined(__USE_MISC) || defined(__USE_XOPEN)
inline void j0_pullback(double x, double d_y, double* d_x) { *d_x -= d_y * ::j1(x); }
inline void j1_pullback(double x, double d_y, double* d_x) { *d_x += d_y * (::j0(x) - ::jn(2, x)) / 2; }
inline void jn_pullback(int n, double x, double d_y, double* d_x) {
  *d_x += d_y * (::jn(n - 1, x) - ::jn(n + 1, x)) / 2;
}
inline void y0_pullback(double x, double d_y, double* d_x) { *d_x -= d_y * ::y1(x); }
inline void y1_pullback(double x, double d_y, double* d_x) { *d_x += d_y * (::y0(x) - ::yn(2, x)) / 2; }
inline void yn_pullback(int n, double x, double d_y, double* d_x) {
  *d_x += d_y * (::yn(n - 1, x) - ::yn(n + 1, x)) / 2;
}
#endif

#if defined(__cpp_lib_math_special_functions)
template <real T>
constexpr void beta_pullback(T x, T y, T d_r, T* d_x, T* d_y) {
  const T b = std::beta(x, y), both = digamma(x + y);
  *d_x += d_r * b * (digamma(x) - both);
  *d_y += d_r * b * (digamma(y) - both);
}
template <real T>
constexpr void expint_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * std::exp(x) / x;
}

// Spherical Bessel functions: Abramowitz and Stegun, 10.1.20.
template <real T>
constexpr void sph_bessel_pullback(unsigned n, T x, T d_y, T* d_x) {
  const T before = n > 0 ? n * std::sph_bessel(n - 1, x) : T(0);
  *d_x += d_y * (before - (n + 1) * std::sph_bessel(n + 1, x)) / (2 * n + 1);
}
template <real T>
constexpr void sph_neumann_pullback(unsigned n, T x, T d_y, T* d_x) {
  const T before = n > 0 ? n * std::sph_neumann(n - 1, x) : T(0);
  *d_x += d_y * (before - (n + 1) * std::sph_neumann(n + 1, x)) / (2 * n + 1);
}

// Orthogonal polynomials.
/// P_n' as a sum of (2 k + 1) P_k, which is finite at -1 and 1 too.
template <real T>
constexpr void legendre_pullback(unsigned n, T x, T d_y, T* d_x) {
  T slope = 0;
  for (unsigned k = n % 2 == 0 ? 1 : 0; k < n; k += 2) slope += (2 * k + 1) * std::legendre(k, x);
  *d_x += d_y * slope;
}
template <real T>
constexpr void hermite_pullback(unsigned n, T x, T d_y, T* d_x) {
  if (n > 0) *d_x += d_y * 2 * n * std::hermite(n - 1, x);
}
template <real T>
constexpr void laguerre_pullback(unsigned n, T x, T d_y, T* d_x) {
  if (n > 0) *d_x -= d_y * std::assoc_laguerre(n - 1, 1, x);
}
template <real T>
constexpr void assoc_laguerre_pullback(unsigned n, unsigned m, T x, T d_y, T* d_x) {
  if (n > 0) *d_x -= d_y * std::assoc_laguerre(n - 1, m + 1, x);
}

// Elliptic integrals, whose derivatives are Carlson's R_D (NIST Digital Library of Mathematical Functions,
// 19.25.1 to 19.25.11).
/// By duplication (B. C. Carlson, "Numerical computation of real or complex elliptic integrals", 1995), then
/// the series 19.36.2. No argument may be zero.
template <real T>
constexpr T carlson_rd(T x, T y, T z) {
  T sum = 0, factor = 1, mean = (x + y + 3 * z) / 5;
  const T tolerance = std::pow(std::numeric_limits<T>::epsilon() / 4, T(1) / 6);
  for (;;) {
    const T widest = std::max(std::fabs(mean - x), std::max(std::fabs(mean - y), std::fabs(mean - z)));
    if (!(widest > tolerance * mean)) break;
    const T a = std::sqrt(x), b = std::sqrt(y), c = std::sqrt(z), lambda = a * b + a * c + b * c;
    sum += factor / (c * (z + lambda));
    factor /= 4;
    x = (x + lambda) / 4;
    y = (y + lambda) / 4;
    z = (z + lambda) / 4;
    mean = (x + y + 3 * z) / 5;
  }
  const T u = 1 - x / mean, v = 1 - y / mean, w = -(u + v) / 3;
  const T e2 = u * v - 6 * w * w, e3 = (3 * u * v - 8 * w * w) * w, e4 = 3 * (u * v - w * w) * w * w,
          e5 = u * v * w * w * w;
  const T series = 1 - 3 * e2 / 14 + e3 / 6 + 9 * e2 * e2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26;
  return 3 * sum + factor * series / (mean * std::sqrt(mean));
}
/// R_D(0, y, z): one duplication ahead, as the square root of 0 has no derivative.
template <real T>
constexpr T complete_rd(T y, T z) {
  const T lambda = std::sqrt(y * z);
  return 3 / (std::sqrt(z) * (z + lambda)) + carlson_rd(lambda / 4, (y + lambda) / 4, (z + lambda) / 4) / 4;
}
template <real T>
constexpr void comp_ellint_1_pullback(T k, T d_y, T* d_k) {
  *d_k += d_y * k / 3 * complete_rd(T(1), 1 - k * k);
}
template <real T>
constexpr void comp_ellint_2_pullback(T k, T d_y, T* d_k) {
  *d_k -= d_y * k / 3 * complete_rd(1 - k * k, T(1));
}
/// The multiple of pi next to the angle: beyond the first, each adds two complete integrals.
template <real T>
constexpr T half_turns(T angle) {
  return std::round(angle / T(3.14159265358979323846264338327950288L));
}
template <real T>
constexpr void ellint_1_pullback(T k, T angle, T d_y, T* d_k, T* d_angle) {
  const T s = std::sin(angle), c = std::cos(angle), q = 1 - k * k * s * s, n = half_turns(angle);
  const T sign = c < 0 ? -1 : 1;  // of an odd number of half turns
  *d_angle += d_y / std::sqrt(q);
  *d_k += d_y * k / 3 * (sign * s * s * s * carlson_rd(c * c, T(1), q));
  if (n != 0) *d_k += d_y * k / 3 * 2 * n * complete_rd(T(1), 1 - k * k);
}
template <real T>
constexpr void ellint_2_pullback(T k, T angle, T d_y, T* d_k, T* d_angle) {
  const T s = std::sin(angle), c = std::cos(angle), q = 1 - k * k * s * s, n = half_turns(angle);
  const T sign = c < 0 ? -1 : 1;
  *d_angle += d_y * std::sqrt(q);
  *d_k -= d_y * k / 3 * (sign * s * s * s * carlson_rd(c * c, q, T(1)));
  if (n != 0) *d_k -= d_y * k / 3 * 2 * n * complete_rd(1 - k * k, T(1));
}
#endif

}  // namespace clad::builtin_derivatives
