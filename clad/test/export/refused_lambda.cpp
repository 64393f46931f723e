#include "clad/Differentiator/Differentiator.h"

void lambda() {
  auto square = [](double x) { return x * x; };
  // expected-error@+1 {{cannot export the derivative of a lambda, which has no name in another file}}
  clad::gradient(square);
}
