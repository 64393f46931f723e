// Gradients of the graph have the bits of compiled ones: each program below is a template, which
// clad::gradient differentiates with double and the graph with Var.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

// Functions of <cmath> amid arithmetic: f_sin, f_atan2, ...
#define CLADTORCH_PROGRAM(name)                     \
  template <class T>                                \
  T f_##name(T x, T y) {                            \
    using std::name;                                \
    return x * y - name(x * y + x / 4) * y + y / x; \
  }
#define CLADTORCH_PROGRAM_OF_TWO(name)          \
  template <class T>                            \
  T f2_##name(T x, T y) {                       \
    using std::name;                            \
    return name(x, y * 2) * x - name(y, x + 1); \
  }
#define CLADTORCH_PROGRAM_OF_THREE(name)          \
  template <class T>                              \
  T f3_##name(T x, T y) {                         \
    using std::name;                              \
    return name(x, y * 2, y) * x - name(y, x, x); \
  }
CLADTORCH_GRAPH_TERNARY(CLADTORCH_PROGRAM_OF_THREE)
CLADTORCH_GRAPH_UNARY(CLADTORCH_PROGRAM)
CLADTORCH_GRAPH_BINARY(CLADTORCH_PROGRAM_OF_TWO)

template <class T>
T expression(T x, T y) {
  using std::exp;
  return x * y + exp(x) * x - x / y + -x * (y - 3) / (x + y);
}
template <class T>
T statements(T x, T y) {
  using std::sin;
  T a = x * y;
  T b = a * x + sin(a) * a;
  b += x * a;
  b *= y;
  b -= a / x;
  b /= a + 1;
  return b / a + x;
}
template <class T>
T horner(T x, T y) {
  T s = 1;
  for (int i = 0; i < 6; ++i) s = s * x + (i + 1) / y;
  return s;
}
template <class T>
T newton(T x, T y) {
  T r = x;
  for (int i = 0; i < 8; ++i) r = r - (r * r - y) / (2 * r);
  return r * x;
}
template <class T>
T logistic_map(T x, T y) {
  for (int i = 0; i < 20; ++i) x = y * x * (1 - x);
  return x;
}
template <class T>
T branches(T x, T y) {
  T t = x * 2;
  if (t > y) {
    t = t * x;
  } else {
    t -= x;
  }
  T u = t * y + t / y + t * t;
  return u > 2 ? u * y : u + x;
}
template <class T>
T arrays(T x, T y) {
  using std::tanh;
  T p[4] = {x * 2, y, x * y, x / 3};
  for (int i = 1; i < 4; ++i) p[i] = tanh(p[i] * p[i - 1] + y);
  T sum = 0;
  for (int i = 0; i < 4; ++i) sum += p[i] * p[3 - i];
  return sum;
}
template <class T>
T distance(T x, T y) {
  using std::sqrt;
  std::vector<T> v{x, y, x - y};
  T s = 0;
  for (size_t i = 0; i < v.size(); ++i) s += v[i] * v[i];
  return sqrt(s);
}
template <class T>
T powers(T x, T y) {
  using std::pow;
  return pow(x, 3) + pow(x, y) * pow(2.0, x) - pow(y, -1.5);
}
template <class T>
T while_loop(T x, T y) {
  int steps = 0;
  while (x < 40 && steps < 50) {
    x = x * x + y;
    ++steps;
  }
  return x / y;
}
template <class T>
T square_of(T x) {
  T t = x * x;
  return t * x;
}
template <class T>
T calls(T x, T y) {
  T a = square_of(x), b = square_of(a * y);
  return a + b * x;
}
template <class T>
T oscillator(T x, T y) {
  using std::cos;
  using std::exp;
  T position = x, velocity = y;
  for (int i = 0; i < 10; ++i) {
    velocity = velocity - 0.1 * position;
    position = position + 0.1 * velocity;
  }
  return exp(-position * position) * cos(velocity);
}
template <class T>
T minimum_of(T x, T y) {
  using std::fmax;
  using std::fmin;
  using std::hypot;
  return fmin(x * y, hypot(x, y)) * fmax(x, 1 - y);
}
template <class T>
T constant(T x, T y) {
  return y * 0 + 3 - x * 0;
}

// Compiled code sums the contributions of a loop, and those of a copy, before it adds them to the variable's,
// takes the expressions in one call from left to right, and functions of the program after the rest of the
// expression that calls them.
template <class T>
T loop_and_more(T x, T y) {
  T s = y * y;
  for (int i = 0; i < 6; ++i) s = s * x + (i + 1) / y;
  return s * y;
}
template <class T>
T copies(T x, T y) {
  using std::tanh;
  T p[4] = {x, y, x * y, x};
  for (int i = 1; i < 4; ++i) p[i] = tanh(p[i] * p[i - 1] + y);
  return p[0] * p[3] + p[1] * p[2] + p[0] / y;
}

template <class T>
T expressions_in_a_call(T x, T y) {
  using std::fma;
  return fma(x * y, y * 2, x + y) * x;
}

template <class T>
T calls_in_an_expression(T x, T y) {
  using std::lerp;
  return square_of(x * y) * x + square_of(x) - lerp(x, y, x) * x;
}

uint64_t bits(double x) { return std::isnan(x) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(x); }

const std::pair<double, double> points[] = {{0.3, 0.7}, {1.7, 2.3}, {2.2, 1.1}, {-0.4, 0.9}};

int compared = 0;
template <class Gradient, class F>
void compare(const char* name, Gradient& gradient, F f) {
  for (const auto& [x, y] : points) {
    double d_x = 0, d_y = 0;
    gradient.execute(x, y, &d_x, &d_y);
    const auto [g_x, g_y] = grad(f)(x, y);
    EXPECT_EQ(bits(g_x.value), bits(d_x)) << name << " by x at " << x << ", " << y << ": " << g_x.value - d_x;
    EXPECT_EQ(bits(g_y.value), bits(d_y)) << name << " by y at " << x << ", " << y << ": " << g_y.value - d_y;
  }
  ++compared;
}
#define CLADTORCH_COMPARE(f)                                                        \
  {                                                                                 \
    auto gradient = clad::gradient(f<double>);                                      \
    compare(#f, gradient, [](const Var& x, const Var& y) { return f<Var>(x, y); }); \
  }

#define CLADTORCH_COMPARE_ONE(name) CLADTORCH_COMPARE(f_##name)
#define CLADTORCH_COMPARE_TWO(name) CLADTORCH_COMPARE(f2_##name)
#define CLADTORCH_COMPARE_THREE(name) CLADTORCH_COMPARE(f3_##name)
TEST(GraphBesideCompiled, FunctionsHaveTheBitsOfCompiledGradients) {
  CLADTORCH_GRAPH_UNARY(CLADTORCH_COMPARE_ONE)
  CLADTORCH_GRAPH_BINARY(CLADTORCH_COMPARE_TWO)
  CLADTORCH_GRAPH_TERNARY(CLADTORCH_COMPARE_THREE)
  EXPECT_GE(compared, 45);
}

TEST(GraphBesideCompiled, ProgramsHaveTheBitsOfCompiledGradients) {
  CLADTORCH_COMPARE(expression)
  CLADTORCH_COMPARE(statements)
  CLADTORCH_COMPARE(horner)
  CLADTORCH_COMPARE(newton)
  CLADTORCH_COMPARE(logistic_map)
  CLADTORCH_COMPARE(branches)
  CLADTORCH_COMPARE(arrays)
  CLADTORCH_COMPARE(distance)
  CLADTORCH_COMPARE(powers)
  CLADTORCH_COMPARE(while_loop)
  CLADTORCH_COMPARE(calls)
  CLADTORCH_COMPARE(oscillator)
  CLADTORCH_COMPARE(minimum_of)
  CLADTORCH_COMPARE(constant)
}

template <class Gradient, class F>
void compare_closely(Gradient& gradient, F f) {
  for (const auto& [x, y] : points) {
    double d_x = 0, d_y = 0;
    gradient.execute(x, y, &d_x, &d_y);
    const auto [g_x, g_y] = grad(f)(x, y);
    EXPECT_NEAR(g_x.value, d_x, 1e-13);
    EXPECT_NEAR(g_y.value, d_y, 1e-13);
  }
}
TEST(GraphBesideCompiled, SumsOfALoopACopyOrACallMayRoundInAnotherWay) {
  auto calls = clad::gradient(calls_in_an_expression<double>);
  compare_closely(calls, [](const Var& x, const Var& y) { return calls_in_an_expression(x, y); });
  auto call = clad::gradient(expressions_in_a_call<double>);
  compare_closely(call, [](const Var& x, const Var& y) { return expressions_in_a_call(x, y); });
  auto loop = clad::gradient(loop_and_more<double>);
  compare_closely(loop, [](const Var& x, const Var& y) { return loop_and_more(x, y); });
  auto copy = clad::gradient(copies<double>);
  compare_closely(copy, [](const Var& x, const Var& y) { return copies(x, y); });
}

// The functions of the table have rules of their own, in another form than the pullbacks of what they call.
template <class F>
double of_table(double x) {
  if constexpr (functions::parameter_count<F> == 0) return F{}(x);
  if constexpr (functions::parameter_count<F> == 1) return F{0.75}(x);
  if constexpr (functions::parameter_count<F> == 2) return F{-0.5, 1.25}(x);
}
template <class F>
Var of_table(const Var& x) {
  if constexpr (functions::parameter_count<F> == 0) return apply(F{}, x);
  if constexpr (functions::parameter_count<F> == 1) return apply(F{0.75}, x);
  if constexpr (functions::parameter_count<F> == 2) return apply(F{-0.5, 1.25}, x);
}
TEST(GraphBesideCompiled, FunctionsOfTheTableAgreeWithTheirCompiledGradients) {
  int checked = 0;
#define CLADTORCH_CHECK(F)                                                                    \
  {                                                                                           \
    using Of = double (*)(double);                                                            \
    auto gradient = clad::gradient(static_cast<Of>(of_table<functions::F>));                  \
    for (const double x : {-2.2, -0.4, 0.3, 0.9, 1.7, 3.3}) {                                 \
      if (x < 0 && std::string(functions::F::name) == "bounded_log") continue;                \
      double d_x = 0;                                                                         \
      gradient.execute(x, &d_x);                                                              \
      const double d = grad([](const Var& v) { return of_table<functions::F>(v); })(x).value; \
      EXPECT_TRUE(std::fabs(d - d_x) <= 1e-13 * (1 + std::fabs(d_x)) || bits(d) == bits(d_x)) \
          << #F << " at " << x << ": " << d << ", compiled " << d_x;                          \
    }                                                                                         \
    ++checked;                                                                                \
  }
  CLADTORCH_FUNCTIONS(CLADTORCH_CHECK)
#undef CLADTORCH_CHECK
  EXPECT_EQ(checked, static_cast<int>(functions::Index::count));
}

}  // namespace
}  // namespace cladtorch::graph
