// Bases are constructed, called and accumulated through casts.
#include "clad/Differentiator/Differentiator.h"

struct Base {
  double a;
  Base(double x) : a(x * x) {}
  double get() const { return a * a; }
};
struct Derived : Base {
  double b;
  Derived(double x) : Base(x), b(x) {}
  double get() const { return b * Base::get(); }
};
double f(double x) {
  Derived d(x);
  return d.get() * d.a;
}
auto gradient = clad::gradient(f);
