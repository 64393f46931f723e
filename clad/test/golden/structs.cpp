// Nested structs, copies and structured bindings.
#include "clad/Differentiator/Differentiator.h"

struct Point {
  double x, y;
};
struct Segment {
  Point a, b;
  int id;
};
double f(Segment s, double k) {
  Point p = s.a;
  p.x *= k;
  s.b = p;
  auto& [u, v] = s.b;
  u += v;
  return u * s.a.x * s.id;
}
auto gradient = clad::gradient(f);
