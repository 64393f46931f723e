// A sum of calls, of which the analyses leave neither a forward sweep nor a tape: docs/analyses.md.
#include <cmath>

#include "clad/Differentiator/Differentiator.h"

double f(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = p[i] * p[i];
    s += std::sin(t) * t;
  }
  return s;
}
auto gradient = clad::gradient(f, "p");
