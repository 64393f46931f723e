// What clad::gradient's arguments must be.
#include "clad/Differentiator/Differentiator.h"

double f(double x, double y) { return x * y; }

void use(const char* names, double (*pointer)(double)) {
  clad::gradient(f, "z");
  // expected-error@-1 {{clad::gradient: 'f' has no parameter named 'z'; its parameters are: x, y}}
  clad::gradient(f, "x, ");
  // expected-error@-1 {{clad::gradient: 'f' has no parameter named ''; its parameters are: x, y}}
  clad::gradient(f, "x, x");
  // expected-error@-1 {{clad::gradient: parameter 'x' is named twice}}
  clad::gradient(f, names);
  // expected-error@-1 {{clad::gradient: the parameter list must be a string literal}}
  clad::gradient(pointer);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object}}
}
