// A variable that is read where it is overwritten: the old value is kept, the seed is copied.
#include "clad/Differentiator/Differentiator.h"

double f(double x) {
  double s = x;
  s += s * s;
  s = s * x;
  s -= 3;
  return s;
}
auto gradient = clad::gradient(f);
