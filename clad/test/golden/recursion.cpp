// A recursive function's state holds the next call's in a box.
#include "clad/Differentiator/Differentiator.h"

double power(double x, int n) {
  if (n == 0) return 1;
  double rest = power(x, n - 1);
  return rest * x;
}
auto gradient = clad::gradient(power, "x");
