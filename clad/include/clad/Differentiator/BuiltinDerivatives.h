// Pullbacks of `<cmath>` and of the scalar functions of `<algorithm>`.
//
// They are in clad::builtin_derivatives and not in a nested namespace `std`, which would hide ::std in users'
// pullbacks. A user's own `clad::custom_derivatives::std::f_pullback` takes precedence. They are also the
// rules of numbers that record what is done with them (cladtorch/graph/var.h), whose functions are found by
// their class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

#include "clad/Differentiator/NumericalDiff.h"
#include "clad/opaque.h"

namespace clad::builtin_derivatives {

/// A class that computes as a double does specializes this.
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;
template <class T>
concept real = is_real<T>;

using std::cbrt;
using std::cos;
using std::cosh;
using std::exp;
using std::exp2;
using std::hypot;
using std::log;
using std::pow;
using std::remainder;
using std::round;
using std::signbit;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tanh;
using std::trunc;

// y = f(x). The derivative is written in x, so that only the argument must be kept.
template <real T>
constexpr void sin_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * cos(x);
}
template <real T>
constexpr void cos_pullback(T x, T d_y, T* d_x) {
  *d_x -= d_y * sin(x);
}
template <real T>
constexpr void tan_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (cos(x) * cos(x));
}
template <real T>
constexpr void asin_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / sqrt(1 - x * x);
}
template <real T>
constexpr void acos_pullback(T x, T d_y, T* d_x) {
  *d_x -= d_y / sqrt(1 - x * x);
}
template <real T>
constexpr void atan_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (1 + x * x);
}
template <real T>
constexpr void cosh_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * sinh(x);
}
template <real T>
constexpr void sinh_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * cosh(x);
}
template <real T>
constexpr void asinh_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / sqrt(x * x + 1);
}
template <real T>
constexpr void acosh_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / sqrt(x * x - 1);
}
template <real T>
constexpr void atanh_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (1 - x * x);
}
template <real T>
constexpr void log_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / x;
}
template <real T>
constexpr void log2_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (x * log(T(2)));
}
template <real T>
constexpr void log10_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (x * log(T(10)));
}
template <real T>
constexpr void log1p_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (1 + x);
}
template <real T>
constexpr void erf_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * T(1.1283791670955125739L) * exp(-x * x);
}
template <real T>
constexpr void erfc_pullback(T x, T d_y, T* d_x) {
  *d_x -= d_y * T(1.1283791670955125739L) * exp(-x * x);
}
template <real T>
constexpr void fabs_pullback(T x, T d_y, T* d_x) {
  *d_x += x < 0 ? -d_y : x > 0 ? d_y : T(0);
}
template <real T>
constexpr void abs_pullback(T x, T d_y, T* d_x) {
  *d_x += x < 0 ? -d_y : x > 0 ? d_y : T(0);
}

template <real T>
constexpr void exp_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * exp(x);
}
template <real T>
constexpr void exp10_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * pow(T(10), x) * log(T(10));
}
template <real T>
constexpr void exp2_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * exp2(x) * log(T(2));
}
template <real T>
constexpr void expm1_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y * exp(x);
}
template <real T>
constexpr void sqrt_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (2 * sqrt(x));
}
template <real T>
constexpr void cbrt_pullback(T x, T d_y, T* d_x) {
  *d_x += d_y / (3 * cbrt(x) * cbrt(x));
}
template <real T>
constexpr void tanh_pullback(T x, T d_y, T* d_x) {
  const T y = tanh(x);
  *d_x += d_y * (1 - y * y);
}

// Piecewise constant: the derivative is zero wherever it exists.
template <real T>
constexpr void logb_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void floor_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void ceil_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void round_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void trunc_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void rint_pullback(CLAD_UNUSED T, T, T*) {}
template <real T>
constexpr void nearbyint_pullback(CLAD_UNUSED T, T, T*) {}

// Two arguments. `common` is the type the library computes in.
template <class A, class B>
using common = decltype(pow(A(), B()));

/// d/dx x^p = p x^(p-1) (0 for p = 0 even at x = 0); d/dp x^p = x^p log x, taken as 0 where x = 0 and p >= 0,
/// and where x < 0: there only integers p have a power, and NaN would reach second derivatives in x alone.
template <class A, class B, class D>
constexpr void pow_pullback(A x, B p, D d_y, A* d_x, B* d_p) {
  using T = common<A, B>;
  if constexpr (real<A>)
    if (p != 0) *d_x += static_cast<A>(d_y * T(p) * pow(T(x), T(p) - 1));
  if constexpr (real<B>) {
    if (x > 0 || (x == 0 && p < 0)) *d_p += static_cast<B>(d_y * pow(T(x), T(p)) * log(T(x)));
  }
}
/// *d += v, unless d belongs to an integer.
template <class T, class V>
constexpr void add_to([[maybe_unused]] T* d, [[maybe_unused]] V v) {
  if constexpr (real<T>) *d += static_cast<T>(v);
}
template <class A, class B, class D>
constexpr void atan2_pullback(A y, B x, D d_r, A* d_y, B* d_x) {
  using T = common<A, B>;
  const T s = d_r / (T(x) * T(x) + T(y) * T(y));
  add_to(d_y, s * x);
  add_to(d_x, -s * y);
}
template <class A, class B, class D>
constexpr void hypot_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  using T = common<A, B>;
  const T r = hypot(T(x), T(y));
  if (r == T(0)) return;
  add_to(d_x, d_r * x / r);
  add_to(d_y, d_r * y / r);
}
template <class A, class B, class C, class D>
constexpr void hypot_pullback(A x, B y, C z, D d_r, A* d_x, B* d_y, C* d_z) {
  using T = common<common<A, B>, C>;
  const T r = hypot(T(x), T(y), T(z));
  if (r == T(0)) return;
  add_to(d_x, d_r * x / r);
  add_to(d_y, d_r * y / r);
  add_to(d_z, d_r * z / r);
}
/// x - n y, where n is the nearest integer to x / y.
template <class A, class B, class D>
constexpr void remainder_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  using T = common<A, B>;
  add_to(d_x, d_r);
  add_to(d_y, -d_r * round((T(x) - remainder(T(x), T(y))) / T(y)));
}
template <class A, class B, class C, class D>
constexpr void lerp_pullback(A a, B b, C t, D d_r, A* d_a, B* d_b, C* d_t) {
  add_to(d_a, d_r * (1 - t));
  add_to(d_b, d_r * t);
  add_to(d_t, d_r * (b - a));
}
template <real T>
constexpr void ldexp_pullback(CLAD_UNUSED T, int n, T d_y, T* d_x) {
  *d_x += std::ldexp(d_y, n);
}
template <real T>
constexpr void scalbn_pullback(CLAD_UNUSED T, int n, T d_y, T* d_x) {
  *d_x += std::scalbn(d_y, n);
}
template <class A, class B, class D>
constexpr void fmod_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  using T = common<A, B>;
  add_to(d_x, d_r);
  add_to(d_y, -d_r * trunc(T(x) / T(y)));
}
template <class A, class B, class D>
constexpr void fmax_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  if (x < y)
    add_to(d_y, d_r);
  else
    add_to(d_x, d_r);
}
template <class A, class B, class D>
constexpr void fmin_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  if (y < x)
    add_to(d_y, d_r);
  else
    add_to(d_x, d_r);
}
template <class A, class B, class D>
constexpr void fdim_pullback(A x, B y, D d_r, A* d_x, B* d_y) {
  if (x > y) {
    add_to(d_x, d_r);
    add_to(d_y, -d_r);
  }
}
template <class A, class B, class D>
constexpr void copysign_pullback(A x, B y, D d_r, A* d_x, B*) {
  add_to(d_x, signbit(x) == signbit(y) ? d_r : -d_r);
}
template <class A, class B, class C, class D>
constexpr void fma_pullback(A x, B y, CLAD_UNUSED C, D d_r, A* d_x, B* d_y, C* d_z) {
  add_to(d_x, d_r * y);
  add_to(d_y, d_r * x);
  add_to(d_z, d_r);
}

// <algorithm>: the branch taken receives the cotangent; ties go to the argument the library returns.
template <real T>
constexpr void max_pullback(const T& a, const T& b, T d_r, T* d_a, T* d_b) {
  if (a < b)
    *d_b += d_r;
  else
    *d_a += d_r;
}
template <real T>
constexpr void min_pullback(const T& a, const T& b, T d_r, T* d_a, T* d_b) {
  if (b < a)
    *d_b += d_r;
  else
    *d_a += d_r;
}
template <real T>
constexpr void clamp_pullback(const T& v, const T& lo, const T& hi, T d_r, T* d_v, T* d_lo, T* d_hi) {
  if (v < lo)
    *d_lo += d_r;
  else if (hi < v)
    *d_hi += d_r;
  else
    *d_v += d_r;
}

/// The derivatives of a function of numbers whose body is not visible, by the five-point difference formula.
/// About ten digits are right where the function is smooth. An argument whose adjoint is null does not move,
/// because the function may not be defined beside it.
template <auto Function>
struct by_differences;
template <class R, class... A, R (*Function)(A...)>
struct by_differences<Function> {
  static void pullback(A... x, R d_y, A*... d_x) {
    std::tuple<A...> at(x...);
    const std::tuple<A*...> adjoints(d_x...);
    each(at, adjoints, d_y, std::index_sequence_for<A...>{});
  }

 private:
  template <std::size_t... I>
  static void each(std::tuple<A...>& at, const std::tuple<A*...>& adjoints, R d_y,
                   std::index_sequence<I...>) {
    (partial<I>(at, std::get<I>(adjoints), d_y), ...);
  }
  template <std::size_t I, class T>
  static void partial(std::tuple<A...>& at, T* adjoint, R d_y) {
    if constexpr (real<T>) {
      if (!adjoint) return;
      const T x = std::get<I>(at);
      *adjoint += d_y * numerical_diff::derivative_at(
                            [&](T moved) {
                              std::get<I>(at) = moved;
                              return static_cast<T>(std::apply(Function, at));
                            },
                            x);
      std::get<I>(at) = x;
    }
  }
};

}  // namespace clad::builtin_derivatives
