// switch: fallthrough is a flag.
#include "clad/Differentiator/Differentiator.h"

double f(double x, int k) {
  switch (k) {
    case 0:
      x *= x;
    case 1:
      x += 1;
      break;
    default:
      x = 2 * x;
  }
  return x;
}
auto gradient = clad::gradient(f, "x");
