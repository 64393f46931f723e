// compile: -fopenmp
// A parallel loop: what it sums up, what belongs to one iteration, and what others add to as well.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double f(const double* a, const double* x, double scale, int n) {
  std::vector<double> y(n);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    double t = 0;
    for (int j = 0; j < n; ++j) t += a[i * n + j] * x[j];
    y[i] = std::tanh(t) * scale;
  }
  double s = 0;
#pragma omp parallel for reduction(+ : s) schedule(monotonic : dynamic)
  for (int i = 0; i < n; ++i) s += y[i] * y[i];
  return s;
}

auto gradient = clad::gradient(f, "a, x, scale");
auto derivative = clad::differentiate(f, "scale");
