// Fusion rules: what matches is replaced, what only looks like it is not, and the derivatives are right in
// either case. Compiled a second time without fusion.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/fusion.h"
#include "clad/test/support/finite_difference.h"

namespace lib {
std::map<std::string, int> pullbacks;  // how often each ran

double linear(double x, double w, double b) { return x * w + b; }
double activate(double x) { return std::tanh(x); }
double linear_activate(double x, double w, double b) { return std::tanh(x * w + b); }
CLAD_PATTERN(linear_activate)
inline double activated(double x, double w, double b) {
  const double t = linear(x, w, b);
  return activate(t);
}

struct SumAndNorm {
  double sum, norm;
};
double plus(double a, double b) { return a + b; }
double norm(double x, double e) { return x / std::sqrt(x * x + e); }
SumAndNorm plus_norm(double a, double b, double e) {
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
void linear_pullback(double x, double w, double, double d, double* d_x, double* d_w, double* d_b) {
  ++pullbacks["linear"];
  *d_x += d * w;
  *d_w += d * x;
  *d_b += d;
}
void activate_pullback(double x, double d, double* d_x) {
  ++pullbacks["activate"];
  *d_x += d * (1 - std::tanh(x) * std::tanh(x));
}
void linear_activate_pullback(double x, double w, double b, double d, double* d_x, double* d_w, double* d_b) {
  ++pullbacks["linear_activate"];
  const double y = std::tanh(x * w + b);
  *d_x += d * (1 - y * y) * w;
  *d_w += d * (1 - y * y) * x;
  *d_b += d * (1 - y * y);
}
void plus_pullback(double, double, double d, double* d_a, double* d_b) {
  ++pullbacks["plus"];
  *d_a += d;
  *d_b += d;
}
void norm_pullback(double x, double e, double d, double* d_x, double* d_e) {
  ++pullbacks["norm"];
  const double r = 1 / std::sqrt(x * x + e);
  *d_x += d * e * r * r * r;
  *d_e -= d * x * r * r * r / 2;
}
void plus_norm_pullback(double a, double b, double e, ::lib::SumAndNorm d, double* d_a, double* d_b,
                        double* d_e) {
  ++pullbacks["plus_norm"];
  const double x = a + b, r = 1 / std::sqrt(x * x + e), d_x = d.sum + d.norm * e * r * r * r;
  *d_a += d_x;
  *d_b += d_x;
  *d_e -= d.norm * x * r * r * r / 2;
}
}  // namespace clad::custom_derivatives::lib

namespace {

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

double chain(double x, double w) { return lib::activate(lib::linear(x, w, 0.5)) * x; }
double through_variables(double x, double w) {
  const double s = w * 2;
  double t = lib::linear(x * x, s + 1, w);
  const double unrelated = std::exp(x);
  double y = lib::activate(t);
  y += unrelated;
  return y * y;
}
TEST(Fusion, ReplacesAChain) {
  double d[2] = {};
  EXPECT_GRADIENT(chain, 0.3, -1.2);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", chain, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(through_variables, 0.3, -0.7);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", through_variables, 0.3, -1.2, &d[0], &d[1]);
}

double same_argument(double x) { return lib::activate(lib::linear(x, x, x)); }
double nested(double x, double w) {
  return lib::activate(lib::linear(lib::activate(lib::linear(x, w, 1)), w, x));
}
double in_loop(double x, double w, int n) {
  for (int i = 0; i < n; ++i) x = lib::activate(lib::linear(x, w, 0.1 * i));
  return x;
}
double in_branch(double x, double w) {
  if (x < 0) return lib::activate(lib::linear(x, w, 0));
  const double t = lib::linear(x, w, 1);
  if (w > 0) return lib::activate(t);  // not where t is computed
  return t;
}
TEST(Fusion, WorksInsideStatements) {
  double d[2] = {};
  EXPECT_GRADIENT(same_argument, 0.4);
  EXPECT_GRADIENT(nested, 0.4, 0.9);
  EXPECT_PULLBACKS("linear_activate 2", "activate 2, linear 2", nested, 0.4, 0.9, &d[0], &d[1]);
  for (int n : {0, 1, 5}) EXPECT_GRADIENT(in_loop, 0.4, 0.9, n);
  EXPECT_PULLBACKS("linear_activate 3", "activate 3, linear 3", in_loop, 0.4, 0.9, 3, &d[0], &d[1]);
  for (double x : {-0.5, 0.5})
    for (double w : {-0.5, 0.5}) EXPECT_GRADIENT(in_branch, x, w);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", in_branch, -0.4, 0.9, &d[0], &d[1]);
  EXPECT_PULLBACKS("activate 1, linear 1", "activate 1, linear 1", in_branch, 0.4, 0.9, &d[0], &d[1]);
}

double used_twice(double x, double w) {
  const double t = lib::linear(x, w, 1);
  return lib::activate(t) + t;
}
double bound_to_itself(double x, double w) {
  const double t = lib::plus(x, w);
  return lib::norm(t, t * t + 1);  // t is also an argument: as one of several results it may be
}
double changed_between(double x, double w) {
  const double t = lib::linear(x, w, 1);
  w *= 2;
  x = x * w;
  return lib::activate(t) * w + x;
}
void triple(double& x) { x *= 3; }
double changed_by_a_call(double x, double w) {
  const double t = lib::linear(x, w, 1);
  triple(w);
  return lib::activate(t) * w;
}
double changed_behind_a_pointer(double* p, double w) {
  const double t = lib::linear(p[0], w, 1);
  p[0] = 5 * w;
  return lib::activate(t) * p[0];
}
double overwritten(double x, double w) {
  double t = lib::linear(x, w, 1);
  t *= 2;
  return lib::activate(t);
}
double assigned_again(double x, double w) {
  x = lib::linear(x, w, 1);
  x = lib::activate(x);
  x = lib::linear(x, w, x);
  if (w > 0) return x * w;
  x = lib::activate(x);
  return x;
}
double assigned_in_loop(double x, double w, int n) {
  double h = x;
  for (int i = 0; i < n; ++i) {
    double t = h;
    t = lib::linear(t, w, 0.1 * i);
    t = lib::activate(t);
    h = t * h + t;
  }
  return h;
}
double assigned_in_branch(double x, double w) {
  double t = lib::linear(x, w, 1);
  if (w > 0) t = t * 2;
  t = lib::activate(t);
  return t;
}
double assigned_and_kept(double x, double w) {
  double t = lib::linear(x, w, 1);
  const double before = t;
  t = lib::activate(t);
  return t + before;
}
double assigned_element(double x, double w) {
  struct {
    double a, b;
  } p = {lib::linear(x, w, 1), x};
  p.a = lib::activate(p.a);
  return p.a * p.b;
}
double captured(double x, double w) {
  double t = lib::linear(x, w, 1);
  const double& u = t;
  return lib::activate(t) * u;
}
TEST(Fusion, FollowsVariablesThatAreAssignedAgain) {
  double d[2] = {};
  for (double w : {-1.2, 0.7}) {
    EXPECT_GRADIENT(assigned_again, 0.3, w);
    EXPECT_GRADIENT(changed_between, 0.3, w);
    EXPECT_GRADIENT(assigned_in_branch, 0.3, w);
    EXPECT_GRADIENT(assigned_and_kept, 0.3, w);
    EXPECT_GRADIENT(assigned_element, 0.3, w);
    for (int n : {0, 1, 4}) EXPECT_GRADIENT(assigned_in_loop, 0.3, w, n);
  }
  EXPECT_PULLBACKS("activate 1, linear 1, linear_activate 1", "activate 2, linear 2", assigned_again, 0.3,
                   -1.2, &d[0], &d[1]);
  EXPECT_PULLBACKS("linear_activate 3", "activate 3, linear 3", assigned_in_loop, 0.3, -1.2, 3, &d[0], &d[1]);
  const char* plain = "activate 1, linear 1";
  EXPECT_PULLBACKS(plain, plain, assigned_in_branch, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_PULLBACKS(plain, plain, assigned_and_kept, 0.3, -1.2, &d[0], &d[1]);
}

TEST(Fusion, LeavesWhatOnlyLooksLikeThePattern) {
  double d[2] = {};
  const char* plain = "activate 1, linear 1";
  EXPECT_GRADIENT(used_twice, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, used_twice, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(bound_to_itself, 0.3, -1.2);
  EXPECT_PULLBACKS("norm 1, plus 1", "norm 1, plus 1", bound_to_itself, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(changed_by_a_call, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, changed_by_a_call, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT_IN_PLACE(changed_behind_a_pointer, (clad::test::buffer{0.3}), -1.2);
  EXPECT_GRADIENT(overwritten, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, overwritten, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(captured, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, captured, 0.3, -1.2, &d[0], &d[1]);
}

struct Linear {
  double w, b;
  double forward(double x) const { return lib::linear(x, w, b); }
  double operator()(double x) const { return forward(x); }
  template <class V>
  void reals(V&& v) {
    v(w);
    v(b);
  }
};
struct Activation {
  double factor;
  double operator()(double x) const {
    const double scaled = x * factor;
    return lib::activate(scaled);
  }
  template <class V>
  void reals(V&& v) {
    v(factor);
  }
};
double plain_activation(double x) { return lib::activate(x); }
double layer(const Linear& l, double x) {
  const double h = lib::activate(l(x));
  return h * l(h);
}
double both_inside(const Linear& l, double x) { return plain_activation(l(2 * x)) + x; }
double inner_value_reused(const Linear& l, double x) {
  const double t = l(x);
  return lib::activate(t) * t;
}
double other_function(const Linear& l, const Activation& a, double x) { return a(l(x)); }
double int_argument(int n, double x) {
  const Linear l{x, 0.5};
  return lib::activate(l(n)) / 3;
}
TEST(Fusion, SeesThroughCalls) {
  double d = 0;
  Linear d_l{};
  const Linear l{0.7, -0.2};
  EXPECT_GRADIENT(layer, l, 0.4);
  EXPECT_PULLBACKS("linear 1, linear_activate 1", "activate 1, linear 2", layer, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(both_inside, l, 0.4);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", both_inside, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(inner_value_reused, l, 0.4);
  EXPECT_PULLBACKS("activate 1, linear 1", "activate 1, linear 1", inner_value_reused, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(other_function, l, (Activation{1.5}), 0.4);
  EXPECT_GRADIENT(int_argument, 2, 0.3);
}

struct Block {
  Linear attention, mlp;
  double epsilon;
  double norm(double x) const { return lib::norm(x, epsilon); }
  double forward(double x) const {
    const double y = lib::plus(x, attention(norm(x)));
    return lib::plus(y, lib::activate(mlp(norm(y))));
  }
  template <class V>
  void reals(V&& v) {
    attention.reals(v);
    mlp.reals(v);
    v(epsilon);
  }
};
double run_block(const Block& b, double x) { return b.forward(x) * 2; }
double sum_used_before(double x, double y, double e) {
  const double s = lib::plus(x, y);
  const double z = s * s;
  return lib::norm(s, e) * z + s;
}
double argument_not_there_yet(double x, double y) {
  const double s = lib::plus(x, y);
  const double z = s * s;
  return lib::norm(s, z + x * x);
}
double sum_used_in_loop(double x, double y, double e) {
  const double s = lib::plus(x, y);
  double r = lib::norm(s, e);
  for (int i = 0; i < 3; ++i) r = r * s + i;
  return r;
}
TEST(Fusion, GivesSeveralResults) {
  double d[3] = {};
  const Block b{{0.7, -0.2}, {1.2, 0.1}, 0.3};
  Block d_b{};
  EXPECT_GRADIENT(run_block, b, 0.4);
  EXPECT_PULLBACKS("linear 1, linear_activate 1, norm 1, plus 1, plus_norm 1",
                   "activate 1, linear 2, norm 2, plus 2", run_block, b, 0.4, &d_b, &d[0]);
  EXPECT_GRADIENT(sum_used_before, 0.4, 0.3, 0.2);
  EXPECT_PULLBACKS("plus_norm 1", "norm 1, plus 1", sum_used_before, 0.4, 0.3, 0.2, &d[0], &d[1], &d[2]);
  EXPECT_GRADIENT(argument_not_there_yet, 0.4, 0.3);
  EXPECT_PULLBACKS("norm 1, plus 1", "norm 1, plus 1", argument_not_there_yet, 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(sum_used_in_loop, 0.4, 0.3, 0.2);
  EXPECT_PULLBACKS("plus_norm 1", "norm 1, plus 1", sum_used_in_loop, 0.4, 0.3, 0.2, &d[0], &d[1], &d[2]);
}

}  // namespace

// Expressions, literals, parameters that occur twice, independent results.
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

TEST(Fusion, EndsWhereAReplacementMatchesItsOwnPattern) { EXPECT_GRADIENT(waves, 0.4); }

TEST(Fusion, LetsAReplacementDecideWhenItRuns) {
  EXPECT_GRADIENT(log_ratios, 0.4, 0.3);
  EXPECT_GRADIENT(log_ratios, -0.4, -0.3);
}

TEST(Fusion, TakesDerivativesOfHigherOrder) {
  double h[4] = {};
  clad::hessian(swished).execute(0.4, 0.3, h);
  const auto slope = [](double x, double y) {
    double d[2] = {};
    clad::gradient(swished).execute(x, y, &d[0], &d[1]);
    return std::pair(d[0], d[1]);
  };
  const double step = 1e-5;
  EXPECT_NEAR(h[0], (slope(0.4 + step, 0.3).first - slope(0.4 - step, 0.3).first) / (2 * step), 1e-8);
  EXPECT_NEAR(h[1], (slope(0.4, 0.3 + step).first - slope(0.4, 0.3 - step).first) / (2 * step), 1e-8);
  EXPECT_NEAR(h[3], (slope(0.4, 0.3 + step).second - slope(0.4, 0.3 - step).second) / (2 * step), 1e-8);
}

}  // namespace
