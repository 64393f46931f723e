// What -fplugin-arg-clad-remarks says.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/checkpoint.h"

double square(double x) { return x * x; }
double of_a_product(double x, double y) {
  // expected-remark@-1 {{the reverse sweep of 'of_a_product' reads what the forward sweep keeps: 'z' and an intermediate result}}
  double z = std::exp(x) * y;
  return z * z;
}
double sum_of_squares(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x[i] * x[i];
  // expected-remark@-1 {{the reverse sweep runs this loop backwards by its counter: it keeps nothing}}
  return s;
}
double independent(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    // expected-remark@-1 {{the reverse sweep computes each iteration of this loop again: it keeps nothing}}
    const double e = std::exp(x[i]);
    s += e * e;
  }
  return s;
}
double recurrence(double x, int n) {
  // expected-remark@-1 {{the reverse sweep of 'recurrence' reads what the forward sweep keeps: 'y'}}
  double y = 1;
  for (int i = 0; i < n; ++i) y = std::sin(y * x);
  // expected-remark@-1 {{each iteration of this loop keeps overwritten values, in an array with one entry for each}}
  // expected-remark@-2 {{keeps what 'y' holds before this: the reverse sweep reads it}}
  return y;
}
double newton(double a) {
  // expected-remark@-1 {{the reverse sweep of 'newton' reads what the forward sweep keeps: 'x'}}
  double x = a;
  while (x * x - a > 1e-9) x -= (x * x - a) / (2 * x);
  // expected-remark@-1 {{each iteration of this loop keeps overwritten values, on a tape: how often it runs is not known before}}
  // expected-remark@-2 {{keeps what 'x' holds before this: the reverse sweep reads it}}
  return x;
}
CLAD_CHECKPOINT double layer(double x) { return std::sin(x) * std::cos(x); }
// expected-remark@-1 {{the reverse sweep of 'layer' reads what the forward sweep keeps: 2 intermediate results}}
double calls(double x) {
  // expected-remark@-1 {{the reverse sweep of 'calls' reads what the forward sweep keeps: 'a' and an intermediate result}}
  const double a = layer(x * x);
  // expected-remark@-1 {{the reverse sweep makes this call again: it keeps its arguments alone}}
  return a * layer(a);
  // expected-remark@-1 {{the reverse sweep makes this call again: it keeps its arguments alone}}
}

void use() {
  clad::gradient(square);
  clad::gradient(of_a_product);
  clad::gradient(sum_of_squares, "x");
  clad::gradient(independent, "x");
  clad::gradient(recurrence, "x");
  clad::gradient(newton);
  clad::gradient(calls);
}
