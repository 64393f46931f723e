// A lambda is not an object in generated code: it may be called, or passed to a function that is visible.
#include <functional>

#include "clad/Differentiator/Differentiator.h"

double stored_in_a_function(double x) {
  std::function<double()> f = [x] { return x * x; };
  return f();
}
double converted_to_a_pointer(double x) {
  double (*f)(double) = [](double y) { return y * y; };
  return f(x);
}
auto made(double k) {
  return [k](double x) { return k * x; };
}
double returned(double x) {
  auto f = made(x);
  return f(x);
}
double chosen(double x) {
  auto a = [x](double y) { return x * y; };
  auto b = a;
  auto& c = x > 0 ? a : b;
  // expected-error@-1 {{cannot differentiate this use of a lambda: its origin is not visible here}}
  return c(x);
}
template <class F>
double replaces(F& f, double x) {
  const double first = f(x);
  f = [](double y) { return y; };
  return first + f(x);
}
double replaced(double x) {
  std::function<double(double)> f = [x](double y) { return x * y; };
  // expected-error@-1 {{cannot differentiate this use of a lambda: it may be stored in a variable, called, or passed to a function whose definition is visible}}
  return replaces(f, x) * f(x);
}
struct Object {
  double a;
  auto closure() const {
    return [this](double x) { return a * x; };
  }
};
double moves_its_pointer(double x, double y) {
  double a[2] = {x, y};
  auto next = [p = &a[0]]() mutable { return *p++; };
  // expected-error@-1 {{cannot differentiate a lambda that captures pointer 'p', which it moves; capture the pointer by value, and an index that moves}}
  return next() * next();
}
double captures_itself(double x) {
  std::function<double(int)> power = [&](int n) { return n == 0 ? 1 : x * power(n - 1); };
  // expected-error@-1 {{cannot differentiate a lambda that captures 'power', a function that is not known here; pass it as an argument}}
  return power(3);
}
struct Pair {
  double a, b;
};
double captures_a_member(const Pair& s, double Pair::* m) {
  auto f = [&](double t) { return s.*m * t; };
  return f(2);
}
double passes_a_member(double x) { return captures_a_member({x, x}, &Pair::a); }

template <class F>
double called(F next) {
  return next();
}
double hands_on_what_moves(double x) {
  const int t[2] = {1, 2};
  const int* p = t;
  return called([&] { return x * *p++; });
  // expected-error@-1 {{cannot differentiate this call with a lambda that moves pointer 'p', which it captures; let it move an index}}
}

void use() {
  clad::gradient(hands_on_what_moves);
  clad::gradient(passes_a_member);
  clad::gradient(captures_itself);
  clad::gradient(moves_its_pointer);
  clad::gradient(stored_in_a_function);
  clad::gradient(converted_to_a_pointer);
  clad::gradient(returned);
  clad::gradient(chosen);
  clad::gradient(replaced);
  Object o{2};
  auto l = o.closure();
  clad::gradient(l);
  // expected-error@-1 {{cannot differentiate a lambda that captures 'this' or another lambda here; let it capture the members that it uses, as in [&x = x], or take the gradient of a function that calls it}}
  auto inner = [](double x) { return x; };
  auto outer = [inner](double x) { return inner(x) * x; };
  clad::gradient(outer);
  // expected-error@-1 {{cannot differentiate a lambda that captures 'this' or another lambda here; let it capture the members that it uses, as in [&x = x], or take the gradient of a function that calls it}}
}
