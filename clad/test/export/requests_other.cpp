// A file that is not exported and asks for what requests.cpp asks for: it finds that when it is executed.
#include "requests.h"

double cube_slope_elsewhere(double x) { return clad::differentiate(cube, "x").execute(x); }
