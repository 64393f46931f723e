// A loop whose derivative needs no values: it is counted, not recorded.
#include "clad/Differentiator/Differentiator.h"

double f(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += 2 * p[i];
  return s;
}
auto gradient = clad::gradient(f, "p");
