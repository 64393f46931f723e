// Every function of the table, by its rule and by its third derivative.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

using functions::Dual;

template <class F>
F example() {
  if constexpr (functions::parameter_count<F> == 0) return F{};
  if constexpr (functions::parameter_count<F> == 1) return F{0.75};
  if constexpr (functions::parameter_count<F> == 2) return F{-0.5, 1.25};
}

template <class F>
void check_function() {
  const F f = example<F>();
  const auto on_graph = [&](const Var& x) { return apply(f, x); };
  for (const double x : {-2.5, -0.3, 0.0, 0.4, 0.9, 1.5, 4.0}) {
    const double y = f(x), slope = functions::slope_at(f, functions::HasSlopeOfResult<F> ? y : x);
    const auto [value, first] = value_and_grad(on_graph)(x);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    EXPECT_TRUE(same(value.value, y)) << F::name << " at " << x;
    EXPECT_TRUE(same(first.value, 0 + slope))
        << F::name << " at " << x << ": " << first.value << ", " << slope;
    const double h = 1e-6, second = grad(grad(on_graph))(x).value;
    const double difference = (grad(on_graph)(x + h).value - grad(on_graph)(x - h).value) / (2 * h);
    if (x != 0 && std::isfinite(difference) && std::fabs(difference) < 1e3) {
      EXPECT_NEAR(second, difference, 1e-7 * (1 + std::fabs(difference))) << F::name << " at " << x;
    }
  }
}

TEST(GraphFunctions, OfTheTableHaveItsRules) {
  int count = 0;
#define CLADTORCH_CHECK(F)        \
  check_function<functions::F>(); \
  ++count;
  CLADTORCH_FUNCTIONS(CLADTORCH_CHECK)
#undef CLADTORCH_CHECK
  EXPECT_EQ(count, static_cast<int>(functions::Index::count));
}

template <class F>
void check_function_of_two() {
  for (const auto& [a, b] : {std::pair(0.7, 1.3), std::pair(2.5, 0.4), std::pair(1.5, 1.5)}) {
    const auto [value, d] = value_and_grad([](const Var& x, const Var& y) { return apply(F(), x, y); })(a, b);
    EXPECT_EQ(value.value, F()(a, b)) << F::name;
    EXPECT_EQ(std::get<0>(d).value, functions::first_slope(F(), a, b)) << F::name;
    EXPECT_EQ(std::get<1>(d).value, functions::second_slope(F(), a, b)) << F::name;
  }
}

TEST(GraphFunctions, OfTwoHaveTheRulesOfTheTable){
#define CLADTORCH_CHECK(F) check_function_of_two<functions::F>();
    CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_CHECK)
#undef CLADTORCH_CHECK
}

TEST(GraphFunctions, HaveTheNamesOfPyTorch) {
  const Scope scope;
  const Var x = variable(0.6), y = variable(0.3);
  const std::set<const Node*> nodes;
  std::set<std::string> names, expected;
  for (const Var& v : {abs(x),          acos(x),       acosh(x + 1),   asin(x),
                       asinh(x),        atan(x),       atanh(x),       bounded_log(x),
                       ceil(x),         celu(x),       clamp(x, 0, 1), cos(x),
                       cosh(x),         elu(x),        erf(x),         erfc(x),
                       exp(x),          exp2(x),       expm1(x),       floor(x),
                       gelu_erf(x),     gelu_tanh(x),  hardshrink(x),  hardsigmoid(x),
                       hardswish(x),    leaky_relu(x), log(x),         log10(x),
                       log1p(x),        log2(x),       logsigmoid(x),  mish(x),
                       pow(x, 2),       reciprocal(x), relu(x),        round(x),
                       rsqrt(x),        selu(x),       sigmoid(x),     sign(x),
                       silu(x),         sin(x),        sinh(x),        softplus(x),
                       softshrink(x),   softsign(x),   sqrt(x),        square(x),
                       tan(x),          tanh(x),       tanhshrink(x),  threshold(x, 0, 1),
                       trunc(x),        atan2(x, y),   hypot(x, y),    logaddexp(x, y),
                       maximum(x, y),   minimum(x, y), pow(x, y),      prelu(x, y),
                       remainder(x, y), xlogy(x, y)}) {
    names.insert(v.node->function);
  }
#define CLADTORCH_NAME(F) expected.insert(functions::F::name);
  CLADTORCH_FUNCTIONS(CLADTORCH_NAME)
  CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_NAME)
#undef CLADTORCH_NAME
  EXPECT_EQ(names, expected);
}

TEST(GraphFunctions, RoundAndRemainderAreThoseOfTheLibrary) {
  EXPECT_EQ(round(Var(2.5)), 3);
  EXPECT_EQ(apply(functions::Round(), Var(2.5)), 2);
  EXPECT_EQ(remainder(Var(-1), 3), std::remainder(-1.0, 3.0));
  EXPECT_EQ(apply(functions::Remainder(), Var(-1), Var(3)), 2);
}

// Third derivatives.

template <class F>
void expect_third(const char* name, F f, double x, double expected) {
  const double third = grad(grad(grad(f)))(x).value;
  EXPECT_NEAR(third, expected, 1e-10 * std::fabs(expected)) << name << " at " << x;
}
#define CLADTORCH_THIRD(expression, at, expected)                                           \
  {                                                                                         \
    const double x = at;                                                                    \
    expect_third(#expression, [](const Var& x) -> Var { return expression; }, x, expected); \
    ++functions;                                                                            \
  }

/// A function's first three derivatives.
struct Derivatives {
  double first, second, third;
};
Derivatives of_sigmoid(double x) {
  const double s = 1 / (1 + std::exp(-x)), d = s * (1 - s);
  return {d, d * (1 - 2 * s), d * (1 - 6 * d)};
}
Derivatives of_tanh(double x) {
  const double t = std::tanh(x), d = 1 - t * t;
  return {d, -2 * t * d, -2 * d * (1 - 3 * t * t)};
}
/// f(g(x))
Derivatives chain(Derivatives f, Derivatives g) {
  return {f.first * g.first, f.second * g.first * g.first + f.first * g.second,
          f.third * std::pow(g.first, 3) + 3 * f.second * g.first * g.second + f.first * g.third};
}
double third_of_mish(double x) {
  const double soft = std::log1p(std::exp(x)), s = 1 / (1 + std::exp(-x));
  const Derivatives of_s = of_sigmoid(x), m = chain(of_tanh(soft), {s, of_s.first, of_s.second});
  return 3 * m.second + x * m.third;
}
double third_of_gelu_tanh(double x) {
  const double a = functions::GeluTanh::linear, b = functions::GeluTanh::cubic;
  const Derivatives g = chain(of_sigmoid(a * x + b * x * x * x), {a + 3 * b * x * x, 6 * b * x, 6 * b});
  return 3 * g.second + x * g.third;
}
double third_of_silu(double x) { return 3 * of_sigmoid(x).second + x * of_sigmoid(x).third; }
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

TEST(GraphFunctions, HaveTheirThirdDerivatives) {
  using std::numbers::ln10, std::numbers::ln2;
  const double gauss = 2 * std::numbers::inv_sqrtpi;
  int functions = 0;
  for (const double at : {0.35, 0.8}) {
    CLADTORCH_THIRD(exp(x), at, std::exp(x))
    CLADTORCH_THIRD(exp2(x), at, ln2 * ln2 * ln2 * std::exp2(x))
    CLADTORCH_THIRD(expm1(x), at, std::exp(x))
    CLADTORCH_THIRD(log(x), at, 2 / (x * x * x))
    CLADTORCH_THIRD(log2(x), at, 2 / (x * x * x * ln2))
    CLADTORCH_THIRD(log10(x), at, 2 / (x * x * x * ln10))
    CLADTORCH_THIRD(log1p(x), at, 2 / std::pow(1 + x, 3))
    CLADTORCH_THIRD(bounded_log(x), at, 2 / (x * x * x))
    CLADTORCH_THIRD(sin(x), at, -std::cos(x))
    CLADTORCH_THIRD(cos(x), at, std::sin(x))
    CLADTORCH_THIRD(tan(x), at, 2 * (1 + std::pow(std::tan(x), 2)) * (1 + 3 * std::pow(std::tan(x), 2)))
    CLADTORCH_THIRD(asin(x), at, (1 + 2 * x * x) / std::pow(1 - x * x, 2.5))
    CLADTORCH_THIRD(acos(x), at, -(1 + 2 * x * x) / std::pow(1 - x * x, 2.5))
    CLADTORCH_THIRD(atan(x), at, (6 * x * x - 2) / std::pow(1 + x * x, 3))
    CLADTORCH_THIRD(sinh(x), at, std::cosh(x))
    CLADTORCH_THIRD(cosh(x), at, std::sinh(x))
    CLADTORCH_THIRD(tanh(x), at, of_tanh(x).third)
    CLADTORCH_THIRD(asinh(x), at, (2 * x * x - 1) / std::pow(1 + x * x, 2.5))
    CLADTORCH_THIRD(acosh(x), at + 1, (2 * x * x + 1) / std::pow(x * x - 1, 2.5))
    CLADTORCH_THIRD(atanh(x), at, (2 + 6 * x * x) / std::pow(1 - x * x, 3))
    CLADTORCH_THIRD(erf(x), at, gauss * std::exp(-x * x) * (4 * x * x - 2))
    CLADTORCH_THIRD(erfc(x), at, -gauss * std::exp(-x * x) * (4 * x * x - 2))
    CLADTORCH_THIRD(sqrt(x), at, 0.375 * std::pow(x, -2.5))
    CLADTORCH_THIRD(cbrt(x), at, 10.0 / 27 * std::pow(x, -8.0 / 3))
    CLADTORCH_THIRD(rsqrt(x), at, -1.875 * std::pow(x, -3.5))
    CLADTORCH_THIRD(reciprocal(x), at, -6 / std::pow(x, 4))
    CLADTORCH_THIRD(pow(x, 2.5), at, 2.5 * 1.5 * 0.5 / std::sqrt(x))
    CLADTORCH_THIRD(pow(2, x), at, ln2 * ln2 * ln2 * std::exp2(x))
    CLADTORCH_THIRD(sigmoid(x), at, of_sigmoid(x).third)
    CLADTORCH_THIRD(logsigmoid(x), at, -of_sigmoid(x).second)
    CLADTORCH_THIRD(softplus(x), at, of_sigmoid(x).second)
    CLADTORCH_THIRD(silu(x), at, third_of_silu(x))
    CLADTORCH_THIRD(mish(x), at, third_of_mish(x))
    CLADTORCH_THIRD(gelu_erf(x), at, density(x) * (x * x * x - 4 * x))
    CLADTORCH_THIRD(gelu_tanh(x), at, third_of_gelu_tanh(x))
    CLADTORCH_THIRD(normal_distribution(x), at, (x * x - 1) * density(x))
    CLADTORCH_THIRD(softsign(x), at, 6 / std::pow(1 + x, 4))
    CLADTORCH_THIRD(tanhshrink(x), at, -of_tanh(x).third)
    CLADTORCH_THIRD(elu(x), -at, std::exp(x))
    CLADTORCH_THIRD(celu(x, 2), -at, std::exp(x / 2) / 4)
    CLADTORCH_THIRD(selu(x), -at, 1.7580993408473768 * std::exp(x))
    CLADTORCH_THIRD(square(x), at, 0)
    CLADTORCH_THIRD(hardswish(x), at, 0)
    CLADTORCH_THIRD(atan2(x, 1), at, (6 * x * x - 2) / std::pow(1 + x * x, 3))
    CLADTORCH_THIRD(hypot(x, 2), at, -12 * x * std::pow(x * x + 4, -2.5))
    CLADTORCH_THIRD(logaddexp(x, 1), at, of_sigmoid(x - 1).second)
    CLADTORCH_THIRD(xlogy(2, x), at, 4 / (x * x * x))
    CLADTORCH_THIRD(exp(x) * sin(x), at, 2 * std::exp(x) * (std::cos(x) - std::sin(x)))
    CLADTORCH_THIRD(x / (1 - x), at, 6 / std::pow(1 - x, 4))
  }
  EXPECT_GE(functions / 2, 40);
}

}  // namespace
}  // namespace cladtorch::graph
