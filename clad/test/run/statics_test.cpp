// Static variables of functions, thread_local ones too: values without derivative that outlive a call.
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

#define EXPECT_BOTH(f)          \
  EXPECT_GRADIENT(f, 1.3, 0.7); \
  EXPECT_GRADIENT(f, 0.7, 1.9)

double counts_its_calls(double x, double y) {
  static int calls = 0;
  ++calls;
  return x * x * y + (calls > 0 ? x : 0.0);
}
double makes_its_table(double x, double y) {
  static bool ready = false;
  static double table[5];
  if (!ready) {
    for (int i = 0; i < 5; ++i) table[i] = 0.3 * i + 1;
    ready = true;
  }
  double s = 0;
  for (int i = 0; i < 5; ++i) s += table[i] * std::pow(x, i) * y;
  return s;
}
double remembered(int n) {
  static double memo[10] = {};
  if (memo[n] == 0) memo[n] = 1.0 + n * 0.5;
  return memo[n];
}
double of_a_constant_call(double x, double y) {
  return remembered(1) * x * y + remembered(2) * x * x + remembered(1);
}
template <int K>
double of_each_instance(double a) {
  static int used = 0;
  used++;
  return a * K + (used > 0 ? a * a : 0.0);
}
double of_templates(double x, double y) {
  return of_each_instance<1>(x) * of_each_instance<2>(y) + of_each_instance<1>(y);
}
double of_threads_and_lambdas(double x, double y) {
  static thread_local int calls = 0;
  calls += 2;
  auto once = [] {
    static int n = 0;
    return ++n > 0 ? 2.0 : 0.0;
  };
  return std::sin(x) * y * (calls % 2 + 1) + once() * x * y;
}
const auto square = [](double a) { return a * a; };
inline constexpr auto product = [](auto a, auto b) { return a * b; };
double of_lambdas_outside(double x, double y) {
  static const auto half = [](double a) { return a / 2; };
  return square(x) * half(y) + product(square(half(x)), y);
}
double root_of(double a) { return std::sqrt(a) + 1; }
double constants(double x, double y) {
  static const std::vector<double> weights = {0.5, 1.5, 2.5};
  static constexpr std::array<double, 2> d{0.5, 0.25};
  static const double c = root_of(2);
  double s = c * x;
  for (double w : weights) s += w * x * std::exp(w * y * 0.1);
  for (std::size_t i = 0; i < d.size(); ++i) s += d[i] * y;
  return s;
}
double counted(double x) {
  static int number = 0;
  ++number;
  return x * number;
}
TEST(Statics, MayChangeOrBeConstant) {
  EXPECT_BOTH(counts_its_calls);
  EXPECT_BOTH(makes_its_table);
  EXPECT_BOTH(of_a_constant_call);
  EXPECT_BOTH(of_templates);
  EXPECT_BOTH(of_threads_and_lambdas);
  EXPECT_BOTH(of_lambdas_outside);
  EXPECT_BOTH(constants);
}
TEST(Statics, AreTheFunctionsOwn) {
  EXPECT_EQ(counted(2), 2);
  double d = 0;
  clad::gradient(counted).execute(2.0, &d);
  EXPECT_EQ(d, 2);
  EXPECT_EQ(counted(2), 6);
}

}  // namespace
