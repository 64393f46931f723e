// The function that docs/adding-a-rule.md follows through the plugin.
#include <cmath>

#include "clad/Differentiator/Differentiator.h"

double f(double x, double y) {
  double u = std::sin(x) * y;
  return u * u;
}
auto g = clad::gradient(f);
auto forward = clad::differentiate(f, "x");
