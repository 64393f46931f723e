// Derivatives that the compiler is to execute, and cannot.
#include <cmath>

#include "clad/Differentiator/Differentiator.h"

constexpr double grow(double x) {
  double s = x;
  while (s < 10) s *= x;
  return s;
}
consteval double by_reverse_mode() {
  double d = 0;
  clad::gradient(grow).execute(2, &d);
  // expected-error@-1 {{clad::gradient: the compiler cannot execute this derivative: it keeps values of loops, or calls what is not constexpr; take clad::differentiate, or ask for it outside of consteval functions}}
  return d;
}
double last(double x) { return x; }
