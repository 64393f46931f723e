// What forward mode cannot do, and what it must be asked for.
#include "clad/Differentiator/Differentiator.h"

double f(double x, double y) { return x * y; }
double of_array(const double* p, int n) { return p[0] * n; }
double scratch(const double* p, double* s) {
  s[0] = p[0] * p[0];
  // expected-error@-1 {{cannot differentiate an assignment to what 's' points to, whose length is not known, more than once; pass an array or a std::vector}}
  return s[0];
}
struct Complex {
  double re, im;
};
Complex returns_class(double x) { return {x, x * x}; }
double& chosen(double x, double& y) { return y *= x; }
double of_class(double x) {
  Complex z{x, 1};
  // expected-error@-1 {{cannot differentiate 'Complex' in several directions at once; ask for one derivative after the other}}
  return z.re;
}
double halves(int n) {
  int a[2] = {1, n};
  // expected-error@-1 {{cannot differentiate with respect to an integer through this: only sums, products, comparisons and conversions to floating point are; make it a floating-point number}}
  return n / 2 + a[1];
  // expected-error@-1 {{cannot differentiate with respect to an integer through this}}
}
double picks(int n, const double* a) {
  return a[n] * n;
  // expected-error@-1 {{cannot differentiate with respect to an integer through this}}
}
double unknown(double x);
double calls_unknown(double x) {
  return unknown(x);
  // expected-error@-1 {{cannot differentiate call to 'unknown': no definition is visible and no matching 'unknown_pushforward', or 'unknown_pullback' of numbers}}
}
namespace clad::custom_derivatives {
int whole_pushforward(double x, double d_x);
// expected-note@-1 {{'whole_pushforward' must return 'clad::ValueAndPushforward<double, double>'}}
ValueAndPushforward<double, double> narrow_pushforward(float x, float d_x);
// expected-note@-1 {{'narrow_pushforward' must return 'clad::ValueAndPushforward<float, float>'}}
}  // namespace clad::custom_derivatives
struct Weighted {
  double* w;
  double operator()(double x) const { return w[0] * x; }
  double twice(double x) const { return 2 * (*this)(x); }
};
double weigh(const Weighted& weighted, double x) { return weighted(x); }
float narrow(float x);
float calls_narrow(float x) {
  return narrow(x);
  // expected-error@-1 {{no 'narrow_pushforward' matches this call of 'narrow'}}
}
double whole(double x);
double calls_whole(double x) {
  return whole(x);
  // expected-error@-1 {{no 'whole_pushforward' matches this call of 'whole'}}
}
double reassigned(double x) {
  auto derivative = clad::differentiate(f, "x");
  if (x > 1) derivative = clad::differentiate(f, "y");
  // expected-error@-1 {{cannot differentiate a use of variable 'derivative' here}}
  return derivative.execute(x, x);
  // expected-error@-1 {{cannot differentiate this call of 'execute': which function it is the derivative of must be seen, as in clad::differentiate(f, "x").execute(x) or of a constant variable}}
}
auto global_derivative = clad::differentiate(f, "x");
double of_global(double x) {
  return global_derivative.execute(x, x);
  // expected-error@-1 {{cannot differentiate this call of 'execute': which function it is the derivative of must be seen, as in clad::differentiate(f, "x").execute(x) or of a constant variable}}
}
Complex not_a_number(double x) { return {x, x}; }
struct Shape {
  double width;
  virtual double area(double x) const { return width * x; }
  double both(double x) const { return area(x) + area(1); }
};
struct Disk : Shape {
  double area(double x) const override { return width * width * x; }
};
struct Model {
  double scale;
  double operator()(double x) const { return scale * x; }
};
double inside(double x) {
  return clad::differentiate(Model{x}, "scale").execute(x);
  // expected-error@-1 {{cannot differentiate this derivative again: it must be that of a number, with respect to a number that is a parameter}}
}

double takes_no_number(int n) { return n; }

void use() {
  clad::differentiate(&Shape::area, "width");
  clad::differentiate(&Shape::both, "width");
  // expected-error@-1 {{cannot differentiate with respect to a member of 'Shape': the object may be of a class that derives from it}}
  clad::differentiate(inside, "x");
  clad::differentiate(f);
  // expected-error@-1 {{clad::differentiate takes one independent number; name a parameter, or an element of an array as in "p[0]"}}
  clad::differentiate(f, "x[1]");
  // expected-error@-1 {{'x' is no array of numbers}}
  clad::differentiate(of_array, "p");
  // expected-error@-1 {{'p' is 'const double *': name the elements to differentiate for, as in "p[0]" or "p[0:2]"}}
  clad::hessian(of_array, "n");
  // expected-error@-1 {{cannot differentiate with respect to 'n': its type 'int' carries no derivative}}
  clad::hessian(of_array, "p[2:1]");
  // expected-error@-1 {{'p' has no elements 2 to 1}}
  clad::hessian(of_array);
  // expected-error@-1 {{'p' is 'const double *': name the elements to differentiate for, as in "p[0]" or "p[0:2]"}}
  clad::hessian(scratch, "p[0]");
  // expected-error@-1 {{cannot compute the Hessian of 'scratch' with respect to what 'p' points to: the function changes its arguments; pass an array or a std::vector instead}}
  clad::gradient(chosen);
  // expected-error@-1 {{cannot differentiate 'chosen' itself: it returns a reference; take the derivative of a function that calls it and returns by value}}
  clad::jacobian(takes_no_number);
  // expected-error@-1 {{cannot compute the Jacobian of 'takes_no_number': it takes no number that carries a derivative}}
  clad::jacobian(returns_class);
  // expected-error@-1 {{cannot compute the Jacobian of 'returns_class': it returns 'Complex', which is no number and no array or vector of numbers}}
  clad::gradient(scratch, "p[0]");
  // expected-error@-1 {{cannot differentiate 'scratch' for some elements of what 'p' points to: it is run once more to learn how many there are, and it changes what is outside of it; name the parameter without elements, or pass an array or a std::vector instead}}
  clad::gradient(f, "x[1]");
  // expected-error@-1 {{'x' is no array of numbers}}
  clad::pushforward(of_array, "p[2:1]");
  // expected-error@-1 {{'p' has no elements 2 to 1}}
  clad::differentiate<2>(scratch, "p[0], s[0]");
  // expected-error@-1 {{clad::differentiate takes one independent number; name a parameter, or an element of an array as in "p[0]"}}
  clad::differentiate<2>(scratch, "s[0]");
  clad::differentiate<2>(scratch, "p[0]");
  // expected-error@-1 {{cannot differentiate 'scratch' without regard to 's': what it points to changes with the independent variables; name it too, or pass an array or a std::vector}}
  clad::differentiate<clad::opts::vector_mode>(of_class);
  clad::differentiate(halves, "n");
  clad::differentiate(picks, "n");
  clad::differentiate(calls_unknown);
  clad::differentiate(calls_whole);
  clad::hessian(calls_narrow);
  clad::differentiate<2>(weigh, "x");
  // expected-error@-1 {{cannot differentiate 'weigh' without regard to 'weighted': what it points to may change with the independent variables; take the gradient with an adjoint for it, or let it hold a std::vector}}
  clad::hessian(&Weighted::twice);
  // expected-error@-1 {{cannot differentiate 'Weighted::twice' without regard to 'self': what it points to may change with the independent variables; take the gradient with an adjoint for it, or let it hold a std::vector}}
  clad::gradient(weigh, "x");
  // expected-error@-1 {{cannot differentiate 'weigh' without regard to 'weighted': what it points to may change with the independent variables; take the gradient with an adjoint for it, or let it hold a std::vector}}
  clad::gradient(weigh);
  clad::gradient(&Weighted::twice);
  clad::gradient(reassigned);
  clad::gradient(of_global);
  clad::differentiate(not_a_number);
  // expected-error@-1 {{cannot differentiate 'not_a_number': it returns 'Complex'; a gradient is taken of a floating-point value, so let it return a double}}
}
