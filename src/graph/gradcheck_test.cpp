#include "cladtorch/graph/gradcheck.h"

#include <gtest/gtest.h>

#include <sstream>

namespace cladtorch::graph {
namespace {

Var rosenbrock(const std::vector<Var>& x) {
  Var sum = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const Var a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    sum += 100 * a * a + b * b;
  }
  return sum;
}

TEST(GraphGradcheck, SaysHowPreciseTheDifferencesAre) {
  const GradCheck check = gradcheck(rosenbrock, {0.5, -0.3, 1.2});
  EXPECT_GT(check.precision, 0);
  EXPECT_LT(check.precision, 1e-6);
  EXPECT_LE(check.error(), check.precision);
  std::ostringstream text;
  text << GradCheck{2, 2.5, 1e-9};
  EXPECT_EQ(text.str(), "2, by central differences 2.5, which are right to 1e-09");
}

TEST(GraphGradcheck, FindsAnErrorOfOneInAMillion) {
  const auto cubic = [](const std::vector<double>& x) { return x[0] * x[0] * x[0] + x[1]; };
  const auto right = [](const std::vector<double>& x) { return std::vector<double>{3 * x[0] * x[0], 1}; };
  EXPECT_LT(gradcheck(cubic, right, {1.5, 2}).error(), 1e-8);
  const auto wrong = [](const std::vector<double>& x) {
    return std::vector<double>{3 * x[0] * x[0], 1 + 1e-6};
  };
  EXPECT_THROW(gradcheck(cubic, wrong, {1.5, 2}), Error);
  const auto few = [](const std::vector<double>&) { return std::vector<double>{1}; };
  EXPECT_THROW(gradcheck(cubic, few, {1.5, 2}), Error);
}

TEST(GraphGradcheck, RefusesAKinkAndAJumpInItsWay) {
  EXPECT_THROW(gradcheck([](const std::vector<Var>& x) { return floor(x[0]) + x[0]; }, {1 + 1e-8}), Error);
  EXPECT_THROW(gradcheck([](const std::vector<Var>& x) { return abs(x[0]); }, {1e-7}), Error);
  EXPECT_EQ(gradcheck([](const std::vector<Var>& x) { return 0 * x[0] + 1; }, {1}).error(), 0);
}

TEST(GraphGradcheck, FindsANaN) {
  EXPECT_THROW(gradcheck([](const std::vector<Var>& x) { return sqrt(x[0]); }, {0.0}), Error);
}

}  // namespace
}  // namespace cladtorch::graph
