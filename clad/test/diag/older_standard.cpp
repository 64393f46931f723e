// C++17, which Clang 19 takes for its default.
#include "clad/Differentiator/Differentiator.h"
// expected-error@clad/Differentiator/Standard.h:* {{clad needs C++20: compile with -std=c++20}}

double f(double x) { return x * x; }
auto d_f = clad::gradient(f);
