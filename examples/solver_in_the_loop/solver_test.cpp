// The gradient through the solver, and that training with it works.
#include <gtest/gtest.h>

#include "training.h"

namespace {

using solver::Network;

TEST(SolverInTheLoop, TheGradientAgreesWithFiniteDifferences) {
  for (const int steps : {1, 20, 200}) {
    const solver::Field r = solver::reference(5, 16, steps, 0.02, 2);
    Network network(3), d(3);
    for (std::size_t i = 0; i < network.weights.size(); ++i) {
      network.weights[i] += 0.01 * static_cast<double>(i % 5);
      d.weights[i] = 0;
    }
    clad::gradient(solver::loss, "network").execute(network, r, 16, steps, 0.02, 5, &d);
    for (std::size_t i = 0; i < network.weights.size(); i += 7) {
      const double h = 1e-4, w = network.weights[i];
      const auto at = [&](double by) {
        network.weights[i] = w + by;
        const double value = solver::loss(network, r, 16, steps, 0.02, 5);
        network.weights[i] = w;
        return value;
      };
      const double expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      EXPECT_NEAR(d.weights[i], expected, 1e-8 + 1e-6 * std::fabs(expected))
          << steps << " steps, weight " << i;
    }
  }
}

TEST(SolverInTheLoop, TheNumberOfSnapshotsDoesNotChangeTheGradient) {
  const solver::Field r = solver::reference(5, 16, 200, 0.02, 2);
  const Network network(3);
  std::vector<std::vector<double>> gradients;
  for (const int snapshots : {1, 3, 8, 200}) {
    Network d = network;
    for (double& w : d.weights) w = 0;
    clad::gradient(solver::loss, "network").execute(network, r, 16, 200, 0.02, snapshots, &d);
    gradients.push_back(d.weights);
  }
  for (const auto& g : gradients) EXPECT_EQ(g, gradients[0]);
}

TEST(SolverInTheLoop, TheLossFalls) {
  solver::Settings s;
  s.cells = 16;
  s.finer = 2;
  s.starts = 2;
  s.epochs = 20;
  Network network(7);
  const std::vector<double> losses = solver::train(network, s, [](int, double) {});
  EXPECT_LT(losses.back(), 0.7 * losses.front());
}

TEST(SolverInTheLoop, TheNetworkConservesTheSum) {
  Network network(3);
  for (double& w : network.weights) w += 0.1;
  const solver::Field start = solver::waves(1, 16);
  const solver::Field end = solver::run(network, start, 50, 0.01);
  double before = 0, after = 0;
  for (int i = 0; i < 16; ++i) before += start[i], after += end[end.size() - 16 + i];
  EXPECT_NEAR(before, after, 1e-10);
}

}  // namespace
