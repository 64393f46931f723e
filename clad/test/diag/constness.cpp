// What is changed where a caller takes it to be constant.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

void by_pointer(const double* p) { *const_cast<double*>(p) *= 3; }
// expected-error@-1 {{cannot differentiate calls of 'by_pointer': this cast takes away a const, and what is changed through it is constant to the caller; let the parameter be without const}}
void by_variable(const double& p) {
  double* q = (double*)&p;
  // expected-error@-1 {{cannot differentiate calls of 'by_variable': this cast takes away a const, and what is changed through it is constant to the caller; let the parameter be without const}}
  *q *= 3;
}
struct Cached {
  double v;
  mutable double cache = 0;
  mutable int reads = 0, calls = 0;
  mutable std::vector<double> kept;
  double get() const {
    ++calls;  // which nothing reads
    cache = v * v;
    // expected-error@-1 {{cannot differentiate calls of 'Cached::get': 'cache', a mutable member, is changed here in an object that is constant to the caller; let the function be without const}}
    return cache * ++reads;
    // expected-error@-1 {{cannot differentiate calls of 'Cached::get': 'reads', a mutable member, is changed here in an object that is constant to the caller; let the function be without const}}
  }
  void keep() const { kept.push_back(v); }
  // expected-error@-1 {{cannot differentiate calls of 'Cached::keep': 'kept', a mutable member, is changed here in an object that is constant to the caller; let the function be without const}}
  void own() { cache *= v; }  // its object is no constant
};
void on_constant(const Cached& c) { c.cache *= 2; }
// expected-error@-1 {{cannot differentiate calls of 'on_constant': 'cache', a mutable member, is changed here in an object that is constant to the caller; let the function be without const}}

// What is only read is not changed.
double sum(double* p, int n) { return n == 0 ? 0 : *p + sum(p + 1, n - 1); }
double first(const double* p) { return *p; }
double read_only(const double* p) { return *(double*)p + ((double*)p)[1] + first((double*)p); }

// Nor is what a function with a derivative of its own does looked into.
void cube(const double* p, double* out) {
  double* q = (double*)p;
  *out = *q * *q * *q;
}
namespace clad::custom_derivatives {
void cube_pullback(const double* p, double* out, double* d_p, double* d_out) {
  *d_p += 3 * *p * *p * *d_out;
  *d_out = 0;
}
}  // namespace clad::custom_derivatives

double f(double x) {
  double a[2] = {x, x};
  by_pointer(a);
  by_variable(a[1]);
  Cached c{x};
  c.own();
  on_constant(c);
  c.keep();
  cube(a, a + 1);
  return c.get() * a[0] * a[1] + read_only(a) + c.kept[0];
}
void use() { clad::gradient(f); }
