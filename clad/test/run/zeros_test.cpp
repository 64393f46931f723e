// Adjoints of classes of which the user says how a zero is made, by clad::zero_like or clad::zero_init.
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

// A zero is of kind -1.
struct Unit {
  Unit(double u = 5) : v(u) {}
  double v;
  int kind = 1;
  double times(double k) const { return v * k; }
};
struct Box {
  Unit u;
  double w;
};
template <class T>
struct Pair {
  T a, b;
  int kind;
};
namespace clad {
Unit zero_like(const Unit&) {
  Unit zero(0);
  zero.kind = -1;
  return zero;
}
template <class T>
void zero_init(Pair<T>& p) {
  p = {0, 0, -1};
}
namespace custom_derivatives {
static void expect_zero_of_ours(int kind) {
  if (kind != -1) throw std::logic_error("an adjoint that the user did not make");
}
namespace class_functions {
void times_pullback(const Unit* u, double k, double d, Unit* d_u, double* d_k) {
  expect_zero_of_ours(d_u->kind);
  d_u->v += d * k;
  *d_k += d * u->v;
}
}  // namespace class_functions
}  // namespace custom_derivatives
}  // namespace clad
double sum_of(const Pair<double>& p) { return p.a + p.b; }
namespace clad::custom_derivatives {
void sum_of_pullback(const Pair<double>&, double d, Pair<double>* d_p) {
  expect_zero_of_ours(d_p->kind);
  d_p->a += d;
  d_p->b += d;
}
}  // namespace clad::custom_derivatives

namespace {

double of_locals(double x, double y) {
  Unit u(x * y), w = u;
  w.v *= y;
  u = w;
  u.v += x;
  return u.times(x) * w.times(y);
}
double of_parts(double x, double y) {
  Unit u[2] = {Unit(x), Unit(y)};
  std::vector<Unit> v{u[0], u[1]};
  v.push_back(Unit(x * y));
  std::array<Box, 2> a{Box{u[0], x}, Box{u[1], y}};
  a[1].u.v *= y;
  a[0] = a[1];
  const std::pair<Unit, double> p{a[0].u, x};
  double s = a[0].u.times(y) * p.first.times(p.second);
  for (int i = 0; i < 3; ++i) {
    Unit t = v[i];
    t.v += x;
    s += t.times(y) * v[i].times(x) * u[1].times(2);
  }
  return s;
}
double of_parameter(Unit u, Pair<double> p, double k) {
  p.a *= k;
  u.v += p.b;
  return u.times(k) * sum_of(p);
}
double of_arguments(double x, double y) {
  Pair<double> p[2] = {{x, y, 3}, {y, x, 4}};
  p[1].a *= sum_of(p[0]);
  return of_parameter(Unit(x), p[1], y) * of_parameter(Unit(y), p[0], x);
}
TEST(Zeros, AreTheUsers) {
  EXPECT_GRADIENT(of_locals, 1.3, 0.7);
  EXPECT_GRADIENT(of_parts, 1.3, 0.7);
  EXPECT_GRADIENT(of_arguments, 1.3, 0.7);
}

// What the program itself makes zero, before any derivative is known.
struct Grid {
  double a;
  std::vector<double> b;
};
double of_grid(Grid g, double x) {
  for (int i = 0; i < 2; ++i) g = Grid{g.a * x, {g.b[1], g.b[0] * x}};
  return g.a * g.b[0];
}
double of_local_grids(double x, double y) {
  Grid sum{1, {0, 1}};
  for (int i = 0; i < 3; ++i) {
    const Grid g{x * i, {y, x}};
    sum = Grid{sum.b[0] * x + g.a, {sum.a + g.b[1], sum.b[1] * y}};
  }
  return sum.a * sum.b[0] + sum.b[1];
}
TEST(Zeros, OfObjectsOfTheProgram) {
  const Grid g{2, {3, 4}};
  std::vector<Grid> d(2, g);
  clad::zero_init(d);
  EXPECT_EQ(d[0].a, 0);
  EXPECT_EQ(d[1].b, (std::vector<double>{0, 0}));
  struct {
    double v = 3;
  } local;
  clad::zero_init(local);
  EXPECT_EQ(local.v, 0);
  double d_x = 0;
  clad::gradient(of_grid).execute(g, 5., &d[0], &d_x);
  EXPECT_DOUBLE_EQ(d[0].a, 25 * 15);
  EXPECT_DOUBLE_EQ(d[0].b[0], 50 * 5);
  EXPECT_DOUBLE_EQ(d_x, 2 * 3 * 3 * 25);
  EXPECT_GRADIENT(of_local_grids, 1.3, 0.7);
}

}  // namespace
