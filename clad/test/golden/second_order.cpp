// A derivative of second order: its two steps have equal tangents, of which one is computed.
#include "clad/Differentiator/Differentiator.h"

double f(double x, int n) {
  double a[3] = {x, 1, 0}, s = 0;
  for (int i = 0; i < n; ++i) {
    a[2] = a[0] * x;
    s += a[2] * a[1];
    a[1] = s;
  }
  return s;
}
auto second = clad::differentiate<2>(f, "x");
