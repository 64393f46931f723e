// A precompiled header with requests: in a variable, in functions, of a template that nothing else
// instantiates.
#pragma once
#include "clad/Differentiator/Differentiator.h"

template <class T>
T cube(T x) {
  return x * x * x;
}
inline double square(double x) { return x * x; }
static auto square_gradient = clad::gradient(square);
inline double cube_derivative(double x) { return clad::differentiate(cube<double>, 0).execute(x); }

template <class T>
struct Scaled {
  T w;
  T value(T x) const { return w * x * x; }
  T derivative(T x) const { return clad::differentiate(&Scaled::value, 0).execute(*this, x); }
};
