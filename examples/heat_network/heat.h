// A network that solves the heat equation u_t = k u_xx on [0, 1], with u = 0 at both ends and a given start:
// a physics-informed network (Raissi, Perdikaris and Karniadakis, 2019). It sees no data; its loss is how far
// it is from the equation, so that the derivatives of the network are part of what is differentiated.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

namespace heat {

constexpr double conductivity = 0.1;
constexpr double pi = 3.14159265358979323846;

inline double start(double x) { return std::sin(pi * x) + 0.5 * std::sin(3 * pi * x); }
/// The solution of the equation, to compare with.
inline double exact(double x, double t) {
  return std::exp(-conductivity * pi * pi * t) * std::sin(pi * x) +
         0.5 * std::exp(-9 * conductivity * pi * pi * t) * std::sin(3 * pi * x);
}

/// (x, t) -> tanh -> tanh -> u.
struct Network {
  static constexpr int width = 16, count = width * 3 + width * (width + 1) + width + 1;
  std::array<double, count> weights;
};

inline Network make_network(std::uint64_t seed) {
  Network n;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int i = 0; i < Network::count; ++i) n.weights[i] = normal(random) / (i < 3 * Network::width ? 1 : 4);
  return n;
}

inline double u(const Network& n, double x, double t) {
  constexpr int w = Network::width;
  double first[w], second[w];
  int next = 0;
  for (int i = 0; i < w; ++i) {
    first[i] =
        std::tanh(n.weights[next] * (2 * x - 1) + n.weights[next + 1] * (2 * t - 1) + n.weights[next + 2]);
    next += 3;
  }
  for (int i = 0; i < w; ++i) {
    double sum = n.weights[next++];
    for (int j = 0; j < w; ++j) sum += n.weights[next++] * first[j];
    second[i] = std::tanh(sum);
  }
  double value = n.weights[next++];
  for (int i = 0; i < w; ++i) value += n.weights[next++] * second[i];
  return value;
}

/// By how much the network misses the equation at (x, t): u_t - k u_xx.
inline double residual(const Network& n, double x, double t) {
  auto u_t = clad::differentiate(u, "t");
  auto u_xx = clad::differentiate<2>(u, "x");
  return u_t.execute(n, x, t) - conductivity * u_xx.execute(n, x, t);
}

/// Squares of the misses, on average over a grid: of the equation inside, of the start and of the ends.
inline double loss(const Network& n, int points) {
  double inside = 0, border = 0;
#pragma omp parallel for reduction(+ : inside, border)
  for (int i = 0; i < points; ++i) {
    const double a = (i + 0.5) / points;
    for (int j = 0; j < points; ++j) {
      const double r = residual(n, a, (j + 0.5) / points);
      inside += r * r;
    }
    const double at_start = u(n, a, 0) - start(a), left = u(n, 0, a), right = u(n, 1, a);
    border += at_start * at_start + left * left + right * right;
  }
  return inside / (points * points) + 10 * border / points;
}

/// The largest distance from the solution, on a grid.
inline double error(const Network& n) {
  double largest = 0;
  for (int i = 0; i <= 50; ++i)
    for (int j = 0; j <= 50; ++j)
      largest = std::fmax(largest, std::fabs(u(n, i / 50., j / 50.) - exact(i / 50., j / 50.)));
  return largest;
}

}  // namespace heat
