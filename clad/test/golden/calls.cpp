// Functions are split into a forward and a reverse sweep, once per set of active arguments.
#include <cmath>

#include "clad/Differentiator/Differentiator.h"

double inner(double x, double k) {
  double y = std::exp(x);
  return y * y * k;
}
double outer(double x) { return inner(x, 2) * inner(x * x, x); }
auto gradient = clad::gradient(outer);
