// An index that is stepped where it is read: the reverse sweep takes the step back and keeps no copy.
#include "clad/Differentiator/Differentiator.h"

double f(const double* p, int n) {
  double s = 1;
  int next = 0;
  for (int i = 0; i < n; ++i) s *= p[next++];
  return s;
}
auto gradient = clad::gradient(f, "p");
