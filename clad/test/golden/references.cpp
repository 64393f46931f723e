// Changes through references and pointers are undone before the values they replaced are read.
#include "clad/Differentiator/Differentiator.h"

void scale(double* v, int n, double& k) {
  for (int i = 0; i < n; ++i) v[i] *= k;
  k = v[0];
}
double f(double* v, double k) {
  scale(v, 2, k);
  double& last = v[1];
  last *= k;
  return last;
}
auto gradient = clad::gradient(f);
