// Expressions: every operand receives the cotangent times its partial derivative; nothing is kept.
#include "clad/Differentiator/Differentiator.h"

double f(double x, double y, int n) { return n * x * y - x / (y + 2) + -x; }
auto gradient = clad::gradient(f);
