#include "heat.h"

#include <gtest/gtest.h>

#include "examples/adam.h"

namespace heat {
namespace {

// (u(x + h) - 2 u(x) + u(x - h)) / h^2, in higher order.
double second_difference(const Network& n, double x, double t) {
  constexpr double h = 1e-3;
  return (-u(n, x + 2 * h, t) + 16 * u(n, x + h, t) - 30 * u(n, x, t) + 16 * u(n, x - h, t) -
          u(n, x - 2 * h, t)) /
         (12 * h * h);
}

TEST(HeatNetwork, ResidualIsThatOfTheEquation) {
  const Network n = make_network(3);
  for (const double x : {0.2, 0.7})
    for (const double t : {0.1, 0.9}) {
      constexpr double h = 1e-4;
      const double u_t = (u(n, x, t + h) - u(n, x, t - h)) / (2 * h);
      EXPECT_NEAR(residual(n, x, t), u_t - conductivity * second_difference(n, x, t), 1e-6);
    }
}

TEST(HeatNetwork, SolutionHasNoResidual) {
  for (const double x : {0.2, 0.7}) {
    constexpr double h = 1e-4, t = 0.3;
    const double u_t = (exact(x, t + h) - exact(x, t - h)) / (2 * h);
    const double u_xx = (exact(x + h, t) - 2 * exact(x, t) + exact(x - h, t)) / (h * h);
    EXPECT_NEAR(u_t, conductivity * u_xx, 1e-5);
    EXPECT_NEAR(exact(x, 0), start(x), 1e-12);
  }
}

TEST(HeatNetwork, GradientAgreesWithDifferences) {
  const Network n = make_network(5);
  Network d{};
  clad::gradient(loss, "n").execute(n, 4, &d);
  for (int i = 0; i < Network::count; i += 7) {
    Network more = n, less = n;
    more.weights[i] += 1e-5;
    less.weights[i] -= 1e-5;
    EXPECT_NEAR(d.weights[i], (loss(more, 4) - loss(less, 4)) / 2e-5, 1e-6 * (1 + std::fabs(d.weights[i])))
        << i;
  }
}

TEST(HeatNetwork, LearnsTheSolution) {
  Network n = make_network(1);
  const double before = error(n);
  auto gradient = clad::value_and_gradient(loss, "n");
  examples::Adam adam(Network::count);
  double first = 0, last = 0;
  for (int step = 0; step < 400; ++step) {
    Network d{};
    last = gradient.execute(n, 8, &d);
    if (step == 0) first = last;
    adam.update(n.weights, d.weights, 0.01);
  }
  EXPECT_LT(last, first / 20);
  EXPECT_LT(error(n), before / 2);
}

}  // namespace
}  // namespace heat
