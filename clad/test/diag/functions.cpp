// Functions that have no gradient.
#include "clad/Differentiator/Differentiator.h"

int rounded(double x) { return x; }
struct Point {
  double x;
};
Point point(double x) { return {x}; }
void nothing(double x) {}
double declared(double x);
struct Shape {
  virtual double area(double s) const = 0;
};
void use() {
  clad::gradient(rounded);
  // expected-error@-1 {{cannot differentiate 'rounded': it returns 'int'; a gradient is taken of a floating-point value}}
  clad::gradient(point);
  // expected-error@-1 {{cannot differentiate 'point': it returns 'Point'; a gradient is taken of a floating-point value}}
  clad::value_and_gradient(nothing);
  // expected-error@-1 {{cannot differentiate 'nothing': it returns 'void'; a gradient is taken of a floating-point value}}
  clad::gradient(declared);
  // expected-error@-1 {{cannot differentiate 'declared': no definition is visible in this translation unit}}
  clad::gradient(&Shape::area);
  // expected-error@-1 {{cannot differentiate 'Shape::area': it is pure virtual, and nothing overrides it in this translation unit}}
}
