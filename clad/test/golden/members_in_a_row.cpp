// Members that are taken for an array.
#include "clad/Differentiator/Differentiator.h"

struct Point {
  double x, y, z;
  double& operator[](int i) { return (&x)[i]; }
};
double f(double k) {
  Point p{k, k * k, 3};
  for (int i = 0; i < 3; ++i) p[i] *= k;
  return p[0] * p[2];
}
auto gradient = clad::gradient(f);
