// A loop: one record per iteration, only of what the reverse sweep reads.
#include "clad/Differentiator/Differentiator.h"

double f(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) {
    double t = p[i] * s;
    s += t * t;
  }
  return s;
}
auto gradient = clad::gradient(f, "p");
