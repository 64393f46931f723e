// What clad::gradient's arguments must be.
#include "clad/Differentiator/Differentiator.h"

double scale = 1;
double f(double x, double y) { return x * y; }
double g(double x, double y) { return x + y; }
struct Overloaded {
  double operator()(double x) const { return x; }
  double operator()(double x, double y) const { return x * y; }
};
struct Plain {};
struct Model {
  double scale;
  CLAD_CONSTANT double epsilon;
  double operator()(double x) const { return scale * x + epsilon; }
};

struct AlsoCalled {
  double operator()(double x) const { return x; }
};
struct Heir : Model, AlsoCalled {};
struct Hidden : private Model {};
struct Boxed : decltype([](double x) { return x; }) {};

void use(const char* names, double (*pointer)(double), int index) {
  clad::gradient(f, "z");
  // expected-error@-1 {{clad::gradient: 'f' has no parameter named 'z'; its parameters are: x, y}}
  clad::gradient(f, "scale");
  // expected-error@-1 {{clad::gradient: 'f' has no parameter named 'scale'; its parameters are: x, y; the variable of that name is a constant here: make it a parameter}}
  clad::gradient(f, "x, ");
  // expected-error@-1 {{clad::gradient: 'f' has no parameter named ''; its parameters are: x, y}}
  clad::gradient(f, "x, x");
  // expected-error@-1 {{clad::gradient: parameter 'x' is named twice}}
  clad::gradient(f, names);
  // expected-error@-1 {{clad::gradient: the parameter list must be a string literal or constexpr}}
  clad::gradient(pointer);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object, or be a constant or a local variable that one of these functions initializes and nothing changes}}
  auto changed = &f, referred = &f, caught = &f;
  if (index) changed = &g;
  clad::gradient(changed);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object, or be a constant or a local variable that one of these functions initializes and nothing changes}}
  auto& reference = referred;
  clad::gradient(referred);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object, or be a constant or a local variable that one of these functions initializes and nothing changes}}
  const auto changes = [&caught] { caught = &g; };
  clad::gradient(caught);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object, or be a constant or a local variable that one of these functions initializes and nothing changes}}
  clad::gradient(Overloaded{}).execute(2, nullptr);
  // expected-error@-1 {{clad::gradient: class 'Overloaded' has several operator(): double (double) const, double (double, double) const; pass a lambda or a function that calls the one to differentiate}}
  clad::gradient(Heir{});
  // expected-error@-1 {{clad::gradient: class 'Heir' has several operator(): double (double) const, double (double) const; pass a lambda or a function that calls the one to differentiate}}
  clad::gradient(Hidden{});
  // expected-error@-1 {{clad::gradient: class 'Hidden' has no operator() that is public and not ambiguous; pass a lambda or a function that calls the one to differentiate}}
  clad::gradient(Boxed{});
  // expected-error@-1 {{clad::gradient: class 'Boxed' inherits its operator() from a lambda; pass a lambda or a function that calls the one to differentiate}}
  clad::gradient([](auto x) { return x * x; });
  // expected-error@-1 {{clad::gradient: this lambda has a template as its operator(); pass a lambda or a function that calls the one to differentiate}}
  clad::value_and_gradient(Plain{});
  // expected-error@-1 {{clad::gradient: class 'Plain' has no operator(); pass a lambda or a function that calls the one to differentiate}}
  clad::differentiate(f, 2);
  // expected-error@-1 {{clad::differentiate: the index of a parameter must be a constant from 0 to 1}}
  clad::differentiate(f, index);
  // expected-error@-1 {{clad::differentiate: the index of a parameter must be a constant from 0 to 1}}
  clad::differentiate(f, "z");
  // expected-error@-1 {{clad::differentiate: 'f' has no parameter named 'z'; its parameters are: x, y}}
  clad::differentiate(Model{}, "epsilon");
  // expected-error@-1 {{clad::differentiate: 'operator()' has no parameter named 'epsilon'; its parameters are: x}}
  clad::differentiate<0>(f, "x");
  // expected-error@clad/Differentiator/Differentiator.h:* {{clad::differentiate<0>: a derivative of order 0 is the function itself; take order 1 or more}}
  clad::differentiate<2, clad::opts::vector_mode>(f, "x");
  // expected-error@-1 {{clad::differentiate: several directions at once are taken of the first derivative alone; leave out the order, or clad::opts::vector_mode}}
  clad::hessian(f, "x[1");
  // expected-error@-1 {{clad::hessian: 'x[1' names no parameter; elements are written as in "p[0]" or "p[0:2]"}}
}
