// A header that asks for a derivative itself.
#pragma once

#include <cmath>

#include "clad/Differentiator/Differentiator.h"

inline double cube(double x) { return x * x * x; }
inline double cube_slope(double x) { return clad::differentiate(cube, "x").execute(x); }

template <class T>
T power(T x, int n) {
  T y = 1;
  for (int i = 0; i < n; ++i) y *= x;
  return y;
}
template <class T>
T power_slope(T x, int n) {
  T d_x = 0;
  clad::gradient(power<T>, "x").execute(x, n, &d_x);
  return d_x;
}
