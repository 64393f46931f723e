// std::vector: range-for, push_back, assignment from a call.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

std::vector<double> squares(const std::vector<double>& v) {
  std::vector<double> out;
  for (double e : v) out.push_back(e * e);
  return out;
}
double f(std::vector<double> v, double k) {
  for (double& e : v) e *= k;
  v = squares(v);
  return v[0] * v.back();
}
auto gradient = clad::gradient(f);
