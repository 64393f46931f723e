// Functions that have no gradient.
#include "clad/Differentiator/Differentiator.h"

int rounded(double x) { return x; }
struct Point {
  double x;
};
bool positive(int n) { return n > 0; }
int half(int n) { return 0.5 * n; }
// expected-error@-1 {{cannot differentiate with respect to an integer through this: only sums, products, comparisons and conversions to floating point are; make it a floating-point number}}
double power(int n, double x) {
  double p = 1;
  for (int i = 0; i < n; ++i) p *= x;
  return p;
}
double open(double x, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, x);
  const double y = __builtin_va_arg(rest, double);
  // expected-error@-1 {{cannot differentiate this expression (VAArgExpr); write it another way, or give the function it stands in a pullback}}
  __builtin_va_end(rest);
  return x * y;
}
Point point(double x) { return {x}; }
void nothing(double x) {}
double declared(double x);
struct Shape {
  virtual double area(double s) const = 0;
};
void use() {
  clad::gradient(rounded);
  // expected-error@-1 {{cannot differentiate 'rounded': it returns 'int'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::differentiate(rounded, 0);
  // expected-error@-1 {{cannot differentiate 'rounded': it returns 'int'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::differentiate<2>(rounded, "x");
  // expected-error@-1 {{cannot differentiate 'rounded': it returns 'int'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::differentiate<clad::opts::vector_mode>(rounded);
  // expected-error@-1 {{cannot differentiate 'rounded': it returns 'int'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::differentiate(positive, 0);
  // expected-error@-1 {{cannot differentiate 'positive': it returns 'bool'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::differentiate(half, 0);
  clad::gradient(power, "n");
  // expected-error@-1 {{cannot differentiate with respect to 'n': its type 'int' carries no derivative}}
  clad::gradient(power, 0);
  // expected-error@-1 {{cannot differentiate with respect to 'n': its type 'int' carries no derivative}}
  clad::value_and_gradient(power, "x, n");
  // expected-error@-1 {{cannot differentiate with respect to 'n': its type 'int' carries no derivative}}
  clad::gradient(power);
  clad::gradient(open);
  clad::gradient(point);
  // expected-error@-1 {{cannot differentiate 'point': it returns 'Point'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::value_and_gradient(nothing);
  // expected-error@-1 {{cannot differentiate 'nothing': it returns 'void'; a gradient is taken of a floating-point value, so let it return a double}}
  clad::gradient(declared);
  // expected-error@-1 {{cannot differentiate 'declared': no definition is visible in this translation unit}}
  clad::gradient(&Shape::area);
  // expected-error@-1 {{cannot differentiate 'Shape::area': it is pure virtual, and nothing overrides it in this translation unit}}
}
