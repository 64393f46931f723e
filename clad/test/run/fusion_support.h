// What the tests of fusion rules share: operations that count how often their pullbacks run. Each test is
// compiled a second time without fusion.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include "clad/Differentiator/Differentiator.h"
#include "clad/fusion.h"
#include "clad/test/support/finite_difference.h"

namespace lib {
inline std::map<std::string, int> pullbacks;  // how often each ran

inline double linear(double x, double w, double b) { return x * w + b; }
inline double activate(double x) { return std::tanh(x); }
inline double linear_activate(double x, double w, double b) { return std::tanh(x * w + b); }
CLAD_PATTERN(linear_activate)
inline double activated(double x, double w, double b) {
  const double t = linear(x, w, b);
  return activate(t);
}

struct SumAndNorm {
  double sum, norm;
};
inline double plus(double a, double b) { return a + b; }
inline double norm(double x, double e) { return x / std::sqrt(x * x + e); }
inline SumAndNorm plus_norm(double a, double b, double e) {
  const double s = a + b;
  return {s, s / std::sqrt(s * s + e)};
}
CLAD_PATTERN(plus_norm)
inline SumAndNorm norm_of_sum(double a, double b, double e) {
  const double s = plus(a, b);
  return {s, norm(s, e)};
}
}  // namespace lib

namespace clad::custom_derivatives::lib {
using ::lib::pullbacks;
inline void linear_pullback(double x, double w, double, double d, double* d_x, double* d_w, double* d_b) {
  ++pullbacks["linear"];
  *d_x += d * w;
  *d_w += d * x;
  *d_b += d;
}
inline void activate_pullback(double x, double d, double* d_x) {
  ++pullbacks["activate"];
  *d_x += d * (1 - std::tanh(x) * std::tanh(x));
}
inline void linear_activate_pullback(double x, double w, double b, double d, double* d_x, double* d_w,
                                     double* d_b) {
  ++pullbacks["linear_activate"];
  const double y = std::tanh(x * w + b);
  *d_x += d * (1 - y * y) * w;
  *d_w += d * (1 - y * y) * x;
  *d_b += d * (1 - y * y);
}
inline void plus_pullback(double, double, double d, double* d_a, double* d_b) {
  ++pullbacks["plus"];
  *d_a += d;
  *d_b += d;
}
inline void norm_pullback(double x, double e, double d, double* d_x, double* d_e) {
  ++pullbacks["norm"];
  const double r = 1 / std::sqrt(x * x + e);
  *d_x += d * e * r * r * r;
  *d_e -= d * x * r * r * r / 2;
}
inline void plus_norm_pullback(double a, double b, double e, ::lib::SumAndNorm d, double* d_a, double* d_b,
                               double* d_e) {
  ++pullbacks["plus_norm"];
  const double x = a + b, r = 1 / std::sqrt(x * x + e), d_x = d.sum + d.norm * e * r * r * r;
  *d_a += d_x;
  *d_b += d_x;
  *d_e -= d.norm * x * r * r * r / 2;
}
}  // namespace clad::custom_derivatives::lib

/// What ran in one gradient: "linear 1, plus_norm 1".
template <class F, class... A>
std::string pullbacks_of(const F& gradient, A... arguments) {
  lib::pullbacks.clear();
  gradient.execute(arguments...);
  std::string text;
  for (const auto& [name, n] : lib::pullbacks)
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(n);
  return text;
}
#ifdef CLAD_TEST_NO_FUSION
#define EXPECT_PULLBACKS(with, without, f, ...) \
  EXPECT_EQ(without, pullbacks_of(clad::gradient(f), __VA_ARGS__))
#else
#define EXPECT_PULLBACKS(with, without, f, ...) EXPECT_EQ(with, pullbacks_of(clad::gradient(f), __VA_ARGS__))
#endif

/// How often a counter goes up in one gradient, and whether it should.
template <class G, class... A>
void expect_count(int& counter, int expected, const G& gradient, A... arguments) {
#ifdef CLAD_TEST_NO_FUSION
  expected = 0;
#endif
  counter = 0;
  gradient.execute(arguments...);
  EXPECT_EQ(counter, expected);
}
