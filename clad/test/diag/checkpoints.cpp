// Calls that cannot run again, and places where clad::checkpoint does nothing.
#include <memory>
#include <span>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double square(double x) {
  double y = x * x;
  return y * y;
}
double of_a_value(double x) { return clad::checkpoint(x * x); }
// expected-error@-1 {{clad::checkpoint goes around a call, as in clad::checkpoint(f(x)); this is none}}
double of_a_variable(double x) {
  double y = square(x);
  return clad::checkpoint(y) + clad::checkpoint((square(x)));
  // expected-error@-1 {{clad::checkpoint goes around a call, as in clad::checkpoint(f(x)); this is none}}
}
double of_a_sum(double x) { return clad::checkpoint(square(x) + square(x)); }
// expected-error@-1 {{clad::checkpoint goes around a call, as in clad::checkpoint(f(x)); this is none}}

double fills(double* out, int n, double x) {
  for (int i = 0; i < n; ++i) out[i] = x * x;
  return out[0];
}
double writes_behind_a_pointer(double* p, double x) { return clad::checkpoint(fills(p, 3, x)) * p[1]; }
// expected-error@-1 {{cannot compute this call of 'fills' again in the backward pass: it may change what a pointer refers to; pass an array, a std::vector or a reference}}
double reads(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) s *= p[i];
  return s;
}
double reads_behind_a_pointer(double* p) { return clad::checkpoint(reads(p, 3)); }

struct View {
  double* data;
  int size;
};
double doubles(const View& v) {
  for (int i = 0; i < v.size; ++i) v.data[i] *= v.data[i];
  return v.data[0];
}
double of_a_view(const View& v) { return clad::checkpoint(doubles(v)) * v.data[0]; }
// expected-error@-1 {{cannot compute this call of 'doubles' again in the backward pass: it may change what the pointers of 'View' refer to}}

struct Unique {
  double x;
  Unique(double x) : x(x) {}
  Unique(const Unique&) = delete;
  Unique& operator=(const Unique&) = delete;
};
double doubled(Unique& u) {
  u.x *= u.x;
  return u.x * u.x;
}
double of_what_cannot_be_copied(Unique& u) { return clad::checkpoint(doubled(u)); }
// expected-error@-1 {{cannot compute this call of 'doubled' again in the backward pass: it may change an object of 'Unique', which cannot be copied}}

double external(double x);
double without_a_definition(double x) { return clad::checkpoint(external(x)); }
// expected-error@-1 {{cannot differentiate call to 'external': no definition is visible and no matching 'external_pullback'}}

void use() {
  clad::gradient(of_a_value);
  clad::gradient(of_a_variable);
  clad::gradient(of_a_sum);
  clad::gradient(writes_behind_a_pointer);
  clad::gradient(reads_behind_a_pointer);
  clad::gradient(of_a_view);
  clad::gradient(of_what_cannot_be_copied);
  clad::gradient(without_a_definition);
}
