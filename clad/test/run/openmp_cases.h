#pragma once

#include <vector>

/// A function of `4 * n + 8` numbers, its gradient, which is added to, and its derivative in a direction.
struct Case {
  const char* name;
  double (*f)(const double* x, int n);
  void (*gradient)(const double* x, int n, double* d);
  double (*pushforward)(const double* x, int n, double* d);
};
std::vector<Case> cases_in_turn();
