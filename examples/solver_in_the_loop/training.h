// Training of the network through all steps of the solver.
#pragma once

#include <functional>
#include <vector>

#include "examples/adam.h"
#include "solver.h"

namespace solver {

struct Settings {
  int cells = 32, steps = 200, finer = 4, snapshots = 8;
  double dt = 0.01;
  int starts = 8;  ///< trained on at the same time
  int epochs = 200;
  double rate = 0.01;
};

/// Trains `network`; calls `report(epoch, loss)` before each update. Returns the losses.
inline std::vector<double> train(Network& network, const Settings& s,
                                 const std::function<void(int, double)>& report) {
  std::vector<Field> references;
  for (int i = 0; i < s.starts; ++i) references.push_back(reference(i + 1, s.cells, s.steps, s.dt, s.finer));
  auto gradient = clad::value_and_gradient(loss, "network");
  examples::Adam adam(network.weights.size());
  std::vector<double> losses;
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    Network d = network;
    for (double& w : d.weights) w = 0;
    double sum = 0;
    for (const Field& r : references)
      sum += gradient.execute(network, r, s.cells, s.steps, s.dt, s.snapshots, &d);
    for (double& w : d.weights) w /= s.starts;
    losses.push_back(sum / s.starts);
    report(epoch, losses.back());
    adam.update(network.weights, d.weights, s.rate);
  }
  return losses;
}

}  // namespace solver
