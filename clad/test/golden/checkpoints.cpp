// A checkpointed call runs as it is, and again, with a state, when the reverse sweep comes to it.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double layer(double w, double x) {
  double y = std::tanh(w * x);
  return y * y + x;
}
double f(const std::vector<double>& w, double x) {
  for (double v : w) x = clad::checkpoint(layer(v, x));
  return x;
}
auto in_a_loop = clad::gradient(f);

CLAD_CHECKPOINT void scale(double& x, double by) {
  x *= by;
  x *= std::exp(x);
}
double g(double x, double y) {
  scale(x, y);
  return x;
}
auto changes_its_argument = clad::gradient(g);

double h(double x) {
  return clad::checkpoint([&] {
    double u = std::sin(x);
    return u * u;
  }());
}
auto of_a_lambda = clad::gradient(h);

double power(double x, int n) {
  if (n == 0) return 1;
  double y = x * x;
  return y * clad::checkpoint(power(x, n - 1));
}
auto recursive = clad::gradient(power, "x");
