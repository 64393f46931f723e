// Burgers' equation, u_t + (u^2 / 2)_x = viscosity u_xx on a circle, by finite volumes, and a small network
// inside the solver: it sees the cells around each face and corrects the flux through it. A correction of
// fluxes moves u from cell to cell and loses nothing of it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

namespace solver {

using Field = std::vector<double>;  ///< one number per cell, or per time step and cell

inline constexpr double length = 6.283185307179586, viscosity = 0.02;

/// Two layers: the four cells around a face -> hidden -> the correction of the flux.
struct Network {
  static constexpr int inputs = 4, hidden = 8;
  std::vector<double> weights;  ///< of the first layer by rows, its biases, then the second layer

  explicit Network(std::uint64_t seed) : weights(hidden * (inputs + 2), 0.0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 0.5);
    for (int i = 0; i < hidden * inputs; ++i) weights[i] = normal(random);  // the second layer starts at zero
  }

  double operator()(double a, double b, double c, double d) const {
    double out = 0;
    for (int h = 0; h < hidden; ++h) {
      const int row = h * inputs;
      const double sum =
          weights[row] * a + weights[row + 1] * b + weights[row + 2] * c + weights[row + 3] * d;
      out += weights[hidden * (inputs + 1) + h] * std::tanh(sum + weights[hidden * inputs + h]);
    }
    return out;
  }
};

/// Flux through the face between the cells `left` and `right`: the simplest that is stable (Rusanov), which
/// smears out what is steep.
inline double flux(double left, double right, double dx) {
  const double speed = std::fmax(std::fabs(left), std::fabs(right));
  return 0.25 * (left * left + right * right) - 0.5 * speed * (right - left) -
         viscosity * (right - left) / dx;
}

/// One step of the coarse solver with the network inside.
inline Field step(const Network& network, const Field& u, double dt) {
  const std::size_t n = u.size();
  const double dx = length / static_cast<double>(n);
  Field face(n, 0.0), next(n, 0.0);  // face[i] is on the right of cell i
  for (std::size_t i = 0; i < n; ++i) {
    const double a = u[(i + n - 1) % n], b = u[i], c = u[(i + 1) % n], d = u[(i + 2) % n];
    face[i] = flux(b, c, dx) + network(a, b, c, d);
  }
  for (std::size_t i = 0; i < n; ++i) next[i] = u[i] - dt / dx * (face[i] - face[(i + n - 1) % n]);
  return next;
}

/// Mean square distance to `reference`, which holds the start and then the solution after each step. The
/// derivative keeps `snapshots` states of the solver.
inline double loss(const Network& network, const Field& reference, int cells, int steps, double dt,
                   int snapshots) {
  Field u(cells, 0.0);
  for (int i = 0; i < cells; ++i) u[i] = reference[i];
  double sum = 0;
  for (int t = 0; t < steps; ++t) {
    clad::checkpoint_loop(snapshots);
    u = step(network, u, dt);
    for (int i = 0; i < cells; ++i) {
      const double off = u[i] - reference[(t + 1) * cells + i];
      sum += off * off;
    }
  }
  return sum / (steps * cells);
}

/// What the solver makes of `start`: the start and the state after each step, one after the other.
inline Field run(const Network& network, const Field& start, int steps, double dt) {
  Field all = start, u = start;
  for (int t = 0; t < steps; ++t) {
    u = step(network, u, dt);
    all.insert(all.end(), u.begin(), u.end());
  }
  return all;
}

/// Means of `by` cells.
inline Field coarser(const Field& u, std::size_t by) {
  Field out(u.size() / by, 0.0);
  for (std::size_t i = 0; i < u.size(); ++i) out[i / by] += u[i] / static_cast<double>(by);
  return out;
}

/// A smooth start of a few random waves between -1 and 1, on `cells` cells.
inline Field waves(std::uint64_t seed, int cells) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  Field u(cells, 0.0);
  for (int k = 1; k <= 3; ++k) {
    const double amplitude = normal(random) / k, phase = length * normal(random);
    for (int i = 0; i < cells; ++i) u[i] += amplitude * std::sin(k * length * (i + 0.5) / cells + phase);
  }
  double most = 0;
  for (double v : u) most = std::fmax(most, std::fabs(v));
  for (double& v : u) v /= most;
  return u;
}

/// The solution on a grid `finer` times as fine, in as many times as many steps per step, seen on the coarse
/// one.
inline Field reference(std::uint64_t seed, int cells, int steps, double dt, int finer) {
  Network none(0);
  Field u = waves(seed, cells * finer), all = coarser(u, finer);
  for (int t = 0; t < steps; ++t) {
    const int substeps = finer * finer;  // diffusion limits the step by the square of the cell
    for (int s = 0; s < substeps; ++s) u = step(none, u, dt / substeps);
    const Field seen = coarser(u, finer);
    all.insert(all.end(), seen.begin(), seen.end());
  }
  return all;
}

}  // namespace solver
