// clad::estimate_error: the gradient, and what rounding does to the value.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clad/Differentiator/Differentiator.h"

namespace {

constexpr double epsilon = std::numeric_limits<float>::epsilon();

double sum_and_product(double x, double y) {
  double z = x * y;
  return z + x;
}
TEST(EstimateError, CountsArgumentsStoresAndTheResult) {
  double d_x = 0, d_y = 0, error = 0;
  clad::estimate_error(sum_and_product).execute(3, 5, &d_x, &d_y, error);
  EXPECT_DOUBLE_EQ(d_x, 6);
  EXPECT_DOUBLE_EQ(d_y, 3);
  EXPECT_DOUBLE_EQ(error, epsilon * (3 * 6 + 5 * 3 + 15 * 1 + 18 * 1));
}

double scale(double a, double k) {
  a = a * k;
  return a + 1;
}
double through_calls_and_loops(double x) {
  double s = 0, a[2] = {x, 1};
  for (int i = 0; i < 2; ++i) s += a[i] * x;
  return scale(s, 2) * x;
}
TEST(EstimateError, GoesThroughCallsLoopsAndArrays) {
  double d_x = 0, error = 0;
  const double x = 3;
  clad::estimate_error(through_calls_and_loops).execute(x, &d_x, error);
  // s = x*x + x; result = (2 s + 1) x. The adjoint of s, also of its first value, and of a[i] x, is 2x.
  const double s = x * x + x, result = (2 * s + 1) * x;
  EXPECT_DOUBLE_EQ(d_x, 2 * s + 1 + x * (4 * x + 2));
  const double stored = 2 * x * (x * x) + 2 * x * s      // s after each iteration
                        + x * (2 * s) + x * (2 * s + 1)  // in the call: a, its result
                        + result + x * d_x;              // the result, the argument
  EXPECT_NEAR(error / epsilon, stored, 1e-9);
}

TEST(EstimateError, WantsAVariableForTheError) {
  double d_x = 0, d_y = 0;
  EXPECT_THROW(clad::estimate_error(sum_and_product).execute(3, 5), std::invalid_argument);
  float wrong = 0;
  EXPECT_THROW(clad::estimate_error(sum_and_product).execute(3, 5, &d_x, &d_y, wrong), std::invalid_argument);
}

}  // namespace
