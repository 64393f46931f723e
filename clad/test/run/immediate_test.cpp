// Derivatives that the compiler itself executes: in constexpr and consteval functions.
#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

#define value_of_macro broken(

constexpr double mean_times(double x, double y) { return (x + y) / 2 * x; }
consteval double by_option() {
  auto d = clad::differentiate<clad::immediate_mode>(mean_times, "x");
  return d.execute(4, 7);
}
static_assert(by_option() == 7.5);
consteval double without_option(double x) { return clad::differentiate(mean_times, 1).execute(x, 7); }
template <class T>
constexpr T after_it = T(without_option(4));
static_assert(after_it<double> == 2);

consteval auto out_of_it() { return clad::differentiate(mean_times, "x"); }

// The tokens that follow a function are those of the file.
consteval double second() { return clad::differentiate<2>(mean_times, "x").execute(4, 7); }
#define MACRO_AFTER_IT static_assert(second() == 1)
MACRO_AFTER_IT;
consteval double before_an_attribute() { return clad::differentiate(mean_times, "x").execute(1, 2); }
[[maybe_unused]] constexpr double of_attribute = before_an_attribute();
static_assert(of_attribute == 2);

namespace {

struct Pair {
  double a, b;
  constexpr double dot(const Pair& o) const { return a * o.a + b * o.b; }
  consteval double slope(double x) const { return clad::differentiate(mean_times, "y").execute(a, x); }
};
constexpr double cube(double v) {
  double r = 1;
  for (int i = 0; i < 3; ++i) r *= v;
  return r;
}
constexpr double everything(double x, double y) {
  const Pair p{x, y};
  const std::array<double, 2> a{x * y, y};
  double s = p.dot({y, x});
  for (const double e : a) s += e * cube(x);
  while (s < 10) s += x * s;
  return s + std::abs(x) + (x > y ? x * x : y);
}
constexpr double of_everything(double x, double y) {
  return clad::differentiate(everything, "x").execute(x, y);
}
constexpr double twice_of_everything(double x, double y) {
  return clad::differentiate<2>(everything, "x").execute(x, y);
}
constexpr double recursive(double x, int n) { return n == 0 ? 1 : x * recursive(x, n - 1); }
constexpr double of_recursive() { return clad::differentiate(recursive, "x").execute(2, 3); }
constexpr double scaled(Pair p, double y) {
  Pair w = p;
  w.a *= y;
  return w.dot(p);
}
constexpr Pair of_object() {
  Pair d{0, 0};
  double d_y = 0;
  clad::gradient(scaled).execute(Pair{1, 2}, 3, &d, &d_y);
  return {d.a, d_y};
}

}  // namespace

static_assert(of_recursive() == 12);
static_assert(of_object().a == 6 && of_object().b == 1);
static_assert(Pair{3, 0}.slope(1) == 1.5);

namespace {

TEST(Immediate, TheCompilerAndTheProgramExecuteTheSameDerivative) {
  constexpr double at_compile_time = of_everything(1.25, 0.5);
  static_assert(twice_of_everything(1.25, 0.5) != 0);
  const volatile double x = 1.25;
  EXPECT_EQ(of_everything(x, 0.5), at_compile_time);
  EXPECT_NEAR(at_compile_time, (everything(x + 1e-6, 0.5) - everything(x - 1e-6, 0.5)) / 2e-6, 1e-6);
  EXPECT_EQ(of_recursive(), 12);
  EXPECT_EQ(of_object().a, 6);
  EXPECT_EQ(out_of_it().execute(4, 7), 7.5);
}
// What initializes it is looked at before its derivative exists.
const auto made_before_main = clad::differentiate(mean_times, "x");
TEST(Immediate, AVariableOfTheFileIsGivenItsDerivative) {
  static const auto of_function = clad::gradient(mean_times);
  double d_x = 0, d_y = 0;
  of_function.execute(4, 7, &d_x, &d_y);
  EXPECT_EQ(d_x, 7.5);
  EXPECT_EQ(made_before_main.execute(4, 7), 7.5);
}

// What the compiler cannot execute is left to the program.
constexpr double until_ten(double x) {
  double s = 0;
  while (s < 10) {
    s += x;
    if (s > 5) s *= x;
  }
  return s;
}
constexpr double with_a_tape(double x) {
  double d = 0;
  clad::gradient(until_ten).execute(x, &d);
  return d;
}
TEST(Immediate, AConstexprFunctionMayAskForWhatOnlyTheProgramExecutes) {
  EXPECT_NEAR(with_a_tape(2), (until_ten(2 + 1e-6) - until_ten(2 - 1e-6)) / 2e-6, 1e-6);
}

}  // namespace
