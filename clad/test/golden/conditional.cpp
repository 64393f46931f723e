// ?: and && with calls and effects on one side.
#include "clad/Differentiator/Differentiator.h"

double square(double& x) {
  x *= 2;
  return x * x;
}
double f(double x, double y) {
  double z = x;
  double a = x > y ? square(z) : y;
  if (x > 0 && square(z) > 1) a += z;
  return a > 1 ? a * z : z;
}
auto gradient = clad::gradient(f);
