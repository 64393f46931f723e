// Calls whose target has no derivative, or is not known.
#include <algorithm>
#include <cmath>
#include <functional>

#include "clad/Differentiator/Differentiator.h"
#include "installed_library.h"

double external(double x);
double calls_external(double x) { return external(x) * x; }
// expected-error@-1 {{cannot differentiate call to 'external': no definition is visible and no matching 'external_pullback'}}
double calls_external_inactive(double x) { return external(2) * x; }

double square(double x) { return x * x; }
double through_a_pointer(double x) {
  double (*f)(double) = square;
  return f(x);
}
double function_parameter(double x, double (*f)(double)) { return f(x); }
// expected-error@-1 {{cannot differentiate a call through a function pointer, std::function or pointer to member whose target is not visible here; call the function by its name, or initialize the variable with it}}
struct Account {
  double sum;
  void doubles() { sum *= 2; }
  void squares() { sum *= sum; }
};
double member_assigned(double x, bool twice) {
  Account a{x};
  void (Account::*change)() = &Account::squares;
  if (twice) change = &Account::doubles;
  (a.*change)();
  // expected-error@-1 {{cannot differentiate a call through a function pointer, std::function or pointer to member whose target is not visible here; call the function by its name, or initialize the variable with it}}
  return a.sum;
}
double function_assigned(double x, bool twice) {
  double (*f)(double) = square;
  if (twice) f = [](double y) { return 2 * y; };
  // expected-error@-1 {{cannot differentiate a lambda as a function pointer that is kept in an object; keep it in a variable, or pass it on}}
  return f(x);
  // expected-error@-1 {{cannot differentiate a call through a function pointer, std::function or pointer to member whose target is not visible here; call the function by its name, or initialize the variable with it}}
}
double apply(double (*f)(double), double x) { return f(x); }
double function_chosen(double x) { return apply(x > 1 ? square : external, x); }
// expected-error@-1 {{cannot differentiate a call with a function that is chosen at run time; use if and else}}
struct Point {
  double x;
  double twice() const { return 2 * x; }
};
double member_pointer(Point p) {
  auto m = &Point::twice;
  return (p.*m)();
}
double data_member_pointer(Point p) {
  double Point::* m = &Point::x;
  return p.*m;
}

struct Shape {
  virtual double area(double x) const { return x; }
};
struct Square : Shape {
  double area(double x) const override { return x * x; }
};
double dynamic(const Shape& s, double x) { return s.area(x); }
double virtual_call(double x) {
  Square s;
  return dynamic(s, x);
}
struct Slots {
  int n[2];
  virtual int& at(int i, int& other) { return n[i]; }
};
struct Others : Slots {
  int& at(int i, int& other) override { return other; }
};
void step(int& k) { ++k; }
double through_what_is_returned(Slots& s, double x) {
  int other = 0;
  s.at(0, other) += 1;
  // expected-error@-1 {{cannot differentiate an assignment through a reference that a call returned: the function is recursive, virtual or not visible; return an index}}
  step(s.at(0, other));
  // expected-error@-1 {{cannot differentiate this call: it may change what a call returned a reference to, and that call is recursive, virtual or not visible; return an index}}
  return x * other;
}
struct Abstract {
  virtual double value(double x) const = 0;
};
double pure_virtual(const Abstract& a, double x) { return a.value(x); }
// expected-error@-1 {{cannot differentiate call to 'Abstract::value': it is virtual and the object's class is not known here and no matching 'value_pullback'}}

double library(double x) { return std::riemann_zeta(x) + std::ellint_3(x, x, x); }
// expected-error@-1 {{cannot differentiate call to 'riemann_zeta': no derivative of this library function is known and no matching 'riemann_zeta_pullback'}}
// expected-error@-2 {{cannot differentiate call to 'ellint_3': no derivative of this library function is known and no matching 'ellint_3_pullback'}}
double library_minimum(double x) { return std::min({x, 2.0, x * x}); }
double exchanged(double x) {
  double y = x;
  return std::exchange(y, 2.0) * y;
}
double stored_function(double x) {
  std::function<double(double)> f = square;
  return f(x);
}
struct Slope {
  double k;
  double operator()(double x) const { return k * x; }
};
double stored_functor(double x) {
  std::function<double(double)> f = Slope{x};
  return f(2);
}
struct Product {
  double k = 1;
  double operator()(double x) { return k *= x; }
};
double stored_state(double x) {
  std::function<double(double)> f = Product{};
  return f(x) + f(x);
}
struct Length {
  double m;
  Length(double km) : m(1000 * km) {}
};
double of_another_class(double x) {
  const std::function<Length(double)> f = square;
  return f(x).m;
  // expected-error@-1 {{cannot differentiate this call: it gives a 'Length', and the function that it stands for returns a 'double'; let the function return what the call gives}}
}
template <class F>
double halved(F f, double x, int n) {
  return n == 0 ? f(x) : halved(f, x / 2, n - 1);
}
double bound(double x) {
  return halved(std::bind(square, std::placeholders::_1), x, 2);
  // expected-error@-1 {{cannot differentiate this call with a lambda that captures 'f', a function that is not known where the lambda stands; pass it as an argument}}
}
void store(double& to, double x) { to = x; }
double bound_copy(double x) {
  double y = 1;
  auto f = std::bind(store, y, std::placeholders::_1);
  f(x);
  // expected-error@-1 {{cannot differentiate this call: the function changes its own copy of an object, or takes other arguments than it is given; use a lambda}}
  return y;
}
double variadic(int n, ...) { return n; }
double calls_variadic(double x) { return variadic(1, x) * x; }

double checked(double x) {
  if (x > 0) goto done;
  // expected-error@-1 {{cannot differentiate 'goto'; use a loop or an early return}}
  x *= 2;
done:
  return x;
}
double inner(double x) { return checked(x) * x; }
double outer(double x) { return inner(x) + x; }

double in_a_library(double x) {
  return installed::twice_checked(x) * 2;
  // expected-error@-1 {{cannot differentiate 'goto'; use a loop or an early return}}
}

void use() {
  clad::gradient(in_a_library);
  clad::gradient(calls_external);
  clad::gradient(calls_external_inactive);
  clad::gradient(through_a_pointer);
  clad::gradient(function_parameter, "x");
  clad::gradient(member_assigned, "x");
  clad::gradient(function_assigned, "x");
  clad::gradient(function_chosen);
  clad::gradient(member_pointer);
  clad::gradient(data_member_pointer);
  clad::gradient(virtual_call);
  clad::gradient(through_what_is_returned);
  clad::gradient(pure_virtual, "x");
  clad::gradient(library);
  clad::gradient(library_minimum);
  clad::gradient(exchanged);
  clad::gradient(stored_function);
  clad::gradient(stored_functor);
  clad::gradient(stored_state);
  clad::gradient(of_another_class);
  clad::gradient(bound);
  clad::gradient(bound_copy);
  clad::gradient(calls_variadic);
  clad::gradient(outer);
}
