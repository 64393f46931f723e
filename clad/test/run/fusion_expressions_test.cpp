// Fusion rules of expressions: literals, parameters that occur twice, constants, independent results.
#include "clad/test/run/fusion_support.h"

namespace algebra {
int hypots = 0, differences = 0, swishes = 0, both = 0, doubled = 0;
double hypot2(double x, double y) { return std::hypot(x, y); }
CLAD_PATTERN(hypot2) inline double root(double x, double y) { return std::sqrt(x * x + y * y); }
double factored(double x, double y) { return (x - y) * (x + y); }
CLAD_PATTERN(factored) inline double of_squares(double x, double y) { return x * x - y * y; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double swish(double x) { return x / (1 + std::exp(-x)); }
CLAD_PATTERN(swish) inline double swish_of_sigmoid(double x) { return x * sigmoid(x); }
double power(double x, double n) { return std::pow(x, n); }
double square(double x) { return x * x; }
CLAD_PATTERN(square) inline double power_2(double x) { return power(x, 2); }
struct SinCos {
  double sine, cosine;
};
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
SinCos sine_cosine(double x) { return {std::sin(x), std::cos(x)}; }
CLAD_PATTERN(sine_cosine) inline SinCos separately(double x) { return {sine(x), cosine(x)}; }
// What the replacement contains is not replaced again.
double wave(double x) { return std::sin(x); }
inline double shifted(double x) { return wave(x - 1) * wave(x); }
CLAD_PATTERN(shifted) inline double wave_itself(double x) { return wave(x) * wave(x - 1); }
// Nor where it is an expression, of operands that the pattern can be found in again.
inline double squared_times(double a, double b) { return a * a * b; }
CLAD_PATTERN(squared_times) inline double between(double a, double b) { return a * b * a; }
// A condition: the replacement falls back to the pattern.
double ratio(double x, double y) { return x / y; }
double logarithm(double x) { return std::log(x); }
inline double log_ratio(double x, double y);
CLAD_PATTERN(log_ratio) inline double log_of_ratio(double x, double y) { return logarithm(ratio(x, y)); }
inline double log_ratio(double x, double y) {
  if (x > 0 && y > 0) return std::log(x) - std::log(y);
  return log_of_ratio(x, y);
}
}  // namespace algebra
namespace clad::custom_derivatives::algebra {
void hypot2_pullback(double x, double y, double d, double* d_x, double* d_y) {
  ++::algebra::hypots;
  *d_x += d * x / std::hypot(x, y);
  *d_y += d * y / std::hypot(x, y);
}
void factored_pullback(double x, double y, double d, double* d_x, double* d_y) {
  ++::algebra::differences;
  *d_x += 2 * d * x;
  *d_y -= 2 * d * y;
}
void sigmoid_pullback(double x, double d, double* d_x) {
  const double y = 1 / (1 + std::exp(-x));
  *d_x += d * y * (1 - y);
}
void swish_pullback(double x, double d, double* d_x) {
  ++::algebra::swishes;
  const double y = 1 / (1 + std::exp(-x));
  *d_x += d * (y + x * y * (1 - y));
}
void square_pullback(double x, double d, double* d_x) {
  ++::algebra::doubled;
  *d_x += 2 * d * x;
}
void power_pullback(double x, double n, double d, double* d_x, double* d_n) {
  *d_x += d * n * std::pow(x, n - 1);
  *d_n += d * std::pow(x, n) * std::log(x);
}
void sine_pullback(double x, double d, double* d_x) { *d_x += d * std::cos(x); }
void cosine_pullback(double x, double d, double* d_x) { *d_x -= d * std::sin(x); }
void sine_cosine_pullback(double x, ::algebra::SinCos d, double* d_x) {
  ++::algebra::both;
  *d_x += d.sine * std::cos(x) - d.cosine * std::sin(x);
}
}  // namespace clad::custom_derivatives::algebra

// A parameter that the replacement has no derivative for.
namespace damped {
int calls = 0;
double grow(double x, double k) { return std::exp(k * x); }
double damp(double x) { return x / (1 + x * x); }
double grow_and_damp(double x, double k) { return damp(grow(x, k)); }
CLAD_PATTERN(grow_and_damp)
inline double by_parts(double x, CLAD_CONSTANT double k) { return damp(grow(x, k)); }
}  // namespace damped
namespace clad::custom_derivatives::damped {
void grow_pullback(double x, double k, double d, double* d_x, double* d_k) {
  *d_x += d * k * std::exp(k * x);
  *d_k += d * x * std::exp(k * x);
}
void damp_pullback(double x, double d, double* d_x) { *d_x += d * (1 - x * x) / ((1 + x * x) * (1 + x * x)); }
void grow_and_damp_pullback(double x, double k, double d, double* d_x, double*) {
  ++::damped::calls;
  double d_t = 0;
  damp_pullback(::damped::grow(x, k), d, &d_t);
  *d_x += d_t * k * std::exp(k * x);
}
}  // namespace clad::custom_derivatives::damped

namespace {
struct Growth {
  CLAD_CONSTANT double rate = 0.7;
  double scale = 1.5;
  double operator()(double x) const {
    const double k = rate * std::sqrt(2.0 + rate);
    return damped::grow(x * scale, k);
  }
  template <class V>
  void reals(V&& v) {
    v(scale);
  }
};
double constant_rate(double x, int n) { return damped::damp(damped::grow(x, 1 / std::sqrt(n + 1.0))) * x; }
double active_rate(double x) {
  const double k = std::sqrt(x);
  return damped::damp(damped::grow(x, 1 / k)) * x;
}
double rate_of_layer(const Growth& g, double x) { return damped::damp(g(x)); }
double scale_as_rate(const Growth& g, double x) { return damped::damp(damped::grow(x, g.scale)); }
double distance(double a, double b) { return std::sqrt((a - 1) * (a - 1) + b * b) + a; }
double not_a_distance(double a, double b) { return std::sqrt((a - 1) * (a - 2) + b * b) + a; }
double squares(double a, double b) {
  const double c = a * a - b * b;
  return c * (std::exp(a) * std::exp(a) - b * b);
}
double assigned(double a, double b) {
  a = a * a - b * b;
  return a * b;
}
double chosen(double a, double b) { return a > 0 ? a * a - b * b : b; }
double swished(double a, double b) { return a * algebra::sigmoid(a) + a * algebra::sigmoid(b); }
double factors_exchanged(double a, double b) { return algebra::sigmoid(a * b) * (b * a); }
double powers(double a) {
  return algebra::power(a, 2) + algebra::power(a, 2.0) * algebra::power(a, 3) + algebra::power(a, 2.5);
}
void shift(double& x) { x = 0.5 * x + 1; }
double equal_before(double a, double b) {
  const double copy = a;
  shift(a);
  return copy * algebra::sigmoid(a) + b * algebra::sigmoid(b + 0);
}
double equal_copies(double a) {
  const double b = a + 1, c = b;
  return b * algebra::sigmoid(c);
}
double circle(double a) {
  const double s = algebra::sine(a) * 2;
  const double c = algebra::cosine(a);
  return s * c + s;
}
double two_circles(double a, double b) {
  return algebra::sine(a) * algebra::cosine(b) + algebra::sine(b) * algebra::cosine(a);
}
double waves(double a) { return algebra::wave(a) * algebra::wave(a - 1); }
double log_ratios(double a, double b) { return algebra::logarithm(algebra::ratio(a, b)) * a; }

TEST(Fusion, MatchesExpressions) {
  double d[2] = {};
  EXPECT_GRADIENT(distance, 0.4, 0.3);
  expect_count(algebra::hypots, 1, clad::gradient(distance), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(not_a_distance, 0.4, 0.3);
  expect_count(algebra::hypots, 0, clad::gradient(not_a_distance), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(squares, 0.4, 0.3);
  expect_count(algebra::differences, 1, clad::gradient(squares), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(assigned, 0.4, 0.3);
  expect_count(algebra::differences, 1, clad::gradient(assigned), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(chosen, 0.4, 0.3);
  EXPECT_GRADIENT(chosen, -0.4, 0.3);
}

TEST(Fusion, TakesAParameterThatOccursTwiceAsOneValue) {
  double d[2] = {};
  EXPECT_GRADIENT(swished, 0.4, 0.3);
  expect_count(algebra::swishes, 1, clad::gradient(swished), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(factors_exchanged, 0.4, 0.3);
  expect_count(algebra::swishes, 1, clad::gradient(factors_exchanged), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(equal_before, 0.4, 0.3);
  expect_count(algebra::swishes, 0, clad::gradient(equal_before), 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(equal_copies, 0.4);
  expect_count(algebra::swishes, 1, clad::gradient(equal_copies), 0.4, &d[0]);
}

TEST(Fusion, LeavesActiveValuesThatMustBeConstant) {
  double d = 0;
  Growth d_g, g;
  EXPECT_GRADIENT(constant_rate, 0.4, 2);
  expect_count(damped::calls, 1, clad::gradient(constant_rate), 0.4, 2, &d, static_cast<int*>(nullptr));
  EXPECT_GRADIENT(active_rate, 0.4);
  expect_count(damped::calls, 0, clad::gradient(active_rate), 0.4, &d);
  EXPECT_GRADIENT(rate_of_layer, g, 0.4);
  expect_count(damped::calls, 1, clad::gradient(rate_of_layer), g, 0.4, &d_g, &d);
  EXPECT_GRADIENT(scale_as_rate, g, 0.4);
  expect_count(damped::calls, 0, clad::gradient(scale_as_rate), g, 0.4, &d_g, &d);
  expect_count(damped::calls, 1, clad::gradient(scale_as_rate, "x"), g, 0.4, &d);
}

TEST(Fusion, TakesLiteralsByTheirValue) {
  double d = 0;
  EXPECT_GRADIENT(powers, 0.4);
  expect_count(algebra::doubled, 2, clad::gradient(powers), 0.4, &d);
}

TEST(Fusion, FindsResultsThatDoNotDependOnEachOther) {
  double d[2] = {};
  EXPECT_GRADIENT(circle, 0.4);
  expect_count(algebra::both, 1, clad::gradient(circle), 0.4, &d[0]);
  EXPECT_GRADIENT(two_circles, 0.4, 0.3);
  expect_count(algebra::both, 2, clad::gradient(two_circles), 0.4, 0.3, &d[0], &d[1]);
}

double cubed(double x, double y) { return x * x * x + x * (x * y * x) * y * (x * y * x); }
TEST(Fusion, EndsWhereAReplacementMatchesItsOwnPattern) {
  EXPECT_GRADIENT(waves, 0.4);
  EXPECT_GRADIENT(cubed, 0.4, 1.3);
}

TEST(Fusion, LetsAReplacementDecideWhenItRuns) {
  EXPECT_GRADIENT(log_ratios, 0.4, 0.3);
  EXPECT_GRADIENT(log_ratios, -0.4, -0.3);
}

template <class Gradient, class Hessian>
void expect_second_derivatives(const Gradient& gradient, const Hessian& hessian) {
  double h[4] = {};
  hessian.execute(0.4, 0.3, h);
  const auto slope = [&](double x, double y) {
    double d[2] = {};
    gradient.execute(x, y, &d[0], &d[1]);
    return std::pair(d[0], d[1]);
  };
  const double step = 1e-5;
  EXPECT_NEAR(h[0], (slope(0.4 + step, 0.3).first - slope(0.4 - step, 0.3).first) / (2 * step), 1e-8);
  EXPECT_NEAR(h[1], (slope(0.4, 0.3 + step).first - slope(0.4, 0.3 - step).first) / (2 * step), 1e-8);
  EXPECT_NEAR(h[3], (slope(0.4, 0.3 + step).second - slope(0.4, 0.3 - step).second) / (2 * step), 1e-8);
}
TEST(Fusion, TakesDerivativesOfHigherOrder) {
  expect_second_derivatives(clad::gradient(swished), clad::hessian(swished));
  expect_second_derivatives(clad::gradient(factors_exchanged), clad::hessian(factors_exchanged));
}

}  // namespace
