// Functions whose body nobody can see.
#include "clad/Differentiator/Differentiator.h"

double unseen(double x, double y);
double f(double x) {
  return unseen(x, 2) * x;
  // expected-warning@-1 {{the derivative of 'unseen' is taken by differences, since its definition is not visible; give it a pullback in clad::custom_derivatives, or define CLAD_NO_NUM_DIFF to make this an error}}
  // expected-error@-2 {{cannot differentiate twice by differences: give the function called here a pullback in clad::custom_derivatives}}
}
double by_reference(const double& x);
double g(double x) {
  return by_reference(x);
  // expected-error@-1 {{cannot differentiate call to 'by_reference': no definition is visible and no matching 'by_reference_pullback'}}
}

void use() {
  clad::gradient(f);
  clad::differentiate(f, "x");
  clad::differentiate<2>(f, "x");
  clad::gradient(g);
}
