#include "clad/Differentiator/Differentiator.h"

double f(double x) {
  // expected-error@+1 {{cannot export a derivative that needs 'Pair', which has no name outside of this place}}
  struct Pair {
    double a, b;
  };
  Pair p{x, x * x};
  return p.a * p.b;
}
auto g = clad::gradient(f);
