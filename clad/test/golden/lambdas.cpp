// A lambda is lifted: its captures become parameters.
#include "clad/Differentiator/Differentiator.h"

template <class F>
double twice(F f, double x) {
  return f(x) + f(2 * x);
}
double f(double x) {
  double k = x * x;
  auto change = [&k](double y) { k *= y; };
  change(x);
  return twice([k](double y) { return k * y * y; }, x);
}
auto gradient = clad::gradient(f);
