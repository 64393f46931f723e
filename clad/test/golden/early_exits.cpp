// break, continue and return become flags that the reverse sweep reads back.
#include "clad/Differentiator/Differentiator.h"

double f(double x, int n) {
  double s = x;
  while (n-- > 0) {
    if (s > 10) return s * x;
    if (n == 3) continue;
    s *= x;
    if (s < 0.1) break;
  }
  return s;
}
auto gradient = clad::gradient(f, "x");
