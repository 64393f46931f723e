// Training of the network through all steps of the solver.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "solver.h"

namespace solver {

struct Settings {
  int cells = 32, steps = 200, finer = 4, snapshots = 8;
  double dt = 0.01;
  int starts = 8;  ///< trained on at the same time
  int epochs = 200;
  double rate = 0.01;
};

/// Adam (Kingma and Ba, 2015).
class Adam {
 public:
  Adam(std::size_t n, double rate) : rate_(rate), mean_(n), square_(n) {}
  void update(std::vector<double>& x, const std::vector<double>& d) {
    const double one = 1 - std::pow(0.9, ++time_), two = 1 - std::pow(0.999, time_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_[i] += 0.1 * (d[i] - mean_[i]);
      square_[i] += 0.001 * (d[i] * d[i] - square_[i]);
      x[i] -= rate_ * mean_[i] / one / (std::sqrt(square_[i] / two) + 1e-8);
    }
  }

 private:
  double rate_;
  int time_ = 0;
  std::vector<double> mean_, square_;
};

/// Trains `network`; calls `report(epoch, loss)` before each update. Returns the losses.
inline std::vector<double> train(Network& network, const Settings& s,
                                 const std::function<void(int, double)>& report) {
  std::vector<Field> references;
  for (int i = 0; i < s.starts; ++i) references.push_back(reference(i + 1, s.cells, s.steps, s.dt, s.finer));
  auto gradient = clad::value_and_gradient(loss, "network");
  Adam adam(network.weights.size(), s.rate);
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
    adam.update(network.weights, d.weights);
  }
  return losses;
}

}  // namespace solver
