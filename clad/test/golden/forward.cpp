// Forward mode: tangents beside the values, calls that return both, a loop, a Hessian's row.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double scaled(double a, double& b) {
  b *= a;
  return a / b;
}
double f(const double* p, double x) {
  std::vector<double> v;
  for (int i = 0; i < 3; ++i) v.push_back(p[i] * std::sin(x));
  double y = v[1] > 0 ? v[0] : 1;
  return scaled(x, y) * std::pow(y, 2) - y;
}
double g(double x, double y) { return x * x * y; }
auto element = clad::differentiate(f, "p[1]");
auto second = clad::differentiate<2>(g, "x");
auto several = clad::differentiate<clad::opts::vector_mode>(g, "x, y");
auto rows = clad::hessian(g);
