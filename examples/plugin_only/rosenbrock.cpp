// Finds the minimum of Rosenbrock's function with a gradient that the compiler writes. Needs the plugin
// alone:
//
//     clang++-19 -O2 $(pkg-config --cflags clad) rosenbrock.cpp && ./a.out
#include <cmath>
#include <cstdio>

#include "clad/Differentiator/Differentiator.h"

double rosenbrock(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; ++i) {
    const double off_parabola = x[i + 1] - x[i] * x[i];
    const double off_one = 1 - x[i];
    sum += 100 * off_parabola * off_parabola + off_one * off_one;
  }
  return sum;
}

int main() {
  auto gradient = clad::gradient(rosenbrock, "x");

  constexpr int n = 2;
  double x[n] = {-1.2, 1.0}, velocity[n] = {0, 0};
  for (int step = 0; step < 50000; ++step) {
    double d_x[n] = {0, 0};
    gradient.execute(x, n, d_x);
    for (int i = 0; i < n; ++i) {
      velocity[i] = 0.9 * velocity[i] - 1e-4 * d_x[i];
      x[i] += velocity[i];
    }
  }

  std::printf("minimum at (%.6f, %.6f), value %.1e\n", x[0], x[1], rosenbrock(x, n));
  return std::abs(x[0] - 1) < 1e-4 && std::abs(x[1] - 1) < 1e-4 ? 0 : 1;
}
