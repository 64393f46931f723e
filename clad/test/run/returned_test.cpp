// Functions that return references and pointers, or make objects, for which the user says what the forward
// sweep runs: f_reverse_forw in Clad's form, with a clad::ValueAndAdjoint.
#include <stdexcept>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/checkpoint.h"
#include "clad/test/support/finite_difference.h"

static int calls = 0;

double& larger(double& u, double& v) { return u > v ? u : v; }
double& hidden(double& u, double& v);
const double& most(const double& u, const double& v) { return u > v ? u : v; }
double* find(double* p, int n, double over) {
  for (int i = 0; i < n; ++i)
    if (p[i] > over) return p + i;
  return nullptr;
}
double& scale_other(double& u, double& v, double k) {
  if (u > v) {
    u *= k;
    return v;
  }
  v *= k;
  return u;
}
static double outside = 3;
double& inside_or_not(double& u, double y) { return y > 0 ? u : outside; }

struct Cell {
  double v[3];
  double w;
  double& at(int i) { return i < 3 ? v[i] : w; }
  const double& first() const { return v[0]; }
  double grow(double k) {
    w *= k;
    return w + k * w * w;
  }
};
struct Grid {
  Cell cells[2];
  std::vector<double> more;
  Cell& cell(int i) { return cells[i]; }
  double& operator[](int i) { return more[i]; }
  double operator[](int i) const { return more[i]; }
};
struct Other {  // whose functions are named like those of Cell
  double v[3];
  double& at(int i) { return v[2 - i]; }
};
struct Span {  // memory of somebody else
  double* data;
  int n;
  double& operator()(int i) { return data[i]; }
};
struct Base {
  double b;
  virtual double& get() { return b; }
  virtual ~Base() = default;
};
struct Derived : Base {
  double d;
  double& get() override { return d; }
};
template <class T>
struct Row {
  T v[4];
  T& element(int i) { return v[i]; }
};
struct Point {
  Point(double px, double py) : x(px), y(px * py) {}
  double x, y;
};
struct Square {
  explicit Square(double s) : area(s * s) {}
  double area;
};
double product(double x, double y) { return x * y; }
double alone(double x, double y) {
  double s = x;
  for (int i = 0; i < 3; ++i) s = s * s * 0.2 + y;
  return s;
}

namespace clad::custom_derivatives {

clad::ValueAndAdjoint<double&, double&> larger_reverse_forw(double& u, double& v, double& d_u, double& d_v) {
  ++calls;
  if (u > v) return {u, d_u};
  return {v, d_v};
}
void larger_pullback(double&, double&, double*, double*) {}
clad::ValueAndAdjoint<double&, double&> hidden_reverse_forw(double& u, double& v, double& d_u, double& d_v) {
  ++calls;
  if (u > v) return {u, d_u};
  return {v, d_v};
}
clad::ValueAndAdjoint<const double&, const double&> most_reverse_forw(const double& u, const double& v,
                                                                      const double& d_u, const double& d_v) {
  ++calls;
  if (u > v) return {u, d_u};
  return {v, d_v};
}
clad::ValueAndAdjoint<double*, double*> find_reverse_forw(double* p, int n, double over, double* d_p, int,
                                                          double) {
  ++calls;
  for (int i = 0; i < n; ++i)
    if (p[i] > over) return {p + i, d_p + i};
  return {nullptr, nullptr};
}
clad::ValueAndAdjoint<double&, double&> scale_other_reverse_forw(double& u, double& v, double k, double& d_u,
                                                                 double& d_v, double) {
  ++calls;
  if (u > v) {
    u *= k;
    return {v, d_v};
  }
  v *= k;
  return {u, d_u};
}
void scale_other_pullback(double& u, double& v, double k, double* d_u, double* d_v, double* d_k) {
  double &changed = u > v ? u : v, &d = u > v ? *d_u : *d_v;
  *d_k += d * changed;
  d *= k;
}
clad::ValueAndPushforward<double&, double&> scale_other_pushforward(double& u, double& v, double k,
                                                                    double& d_u, double& d_v, double d_k) {
  ++calls;
  if (u > v) {
    d_u = d_u * k + u * d_k;
    u *= k;
    return {v, d_v};
  }
  d_v = d_v * k + v * d_k;
  v *= k;
  return {u, d_u};
}
static double no_adjoint = 0;
clad::ValueAndAdjoint<double&, double&> inside_or_not_reverse_forw(double& u, double y, double& d_u, double) {
  if (y > 0) return {u, d_u};
  return {outside, no_adjoint};
}
clad::ValueAndAdjoint<double, double> product_reverse_forw(double x, double y, double, double) {
  ++calls;
  return {x * y, 0};
}
void product_pullback(double x, double y, double d, double* d_x, double* d_y) {
  *d_x += d * y;
  *d_y += d * x;
}
clad::ValueAndAdjoint<double, double> alone_reverse_forw(double x, double y, double, double) {
  ++calls;
  return {::alone(x, y), 0};
}

namespace class_functions {
clad::ValueAndAdjoint<double&, double&> at_reverse_forw(Cell* c, int i, Cell* d, int) {
  ++calls;
  if (i < 3) return {c->v[i], d->v[i]};
  return {c->w, d->w};
}
void at_pullback(Cell*, int, Cell*, int*) {}
clad::ValueAndAdjoint<const double&, const double&> first_reverse_forw(const Cell* c, const Cell* d) {
  ++calls;
  return {c->v[0], d->v[0]};
}
clad::ValueAndAdjoint<double, double> grow_reverse_forw(Cell* c, double k, Cell*, double) {
  ++calls;
  return {c->grow(k), 0};
}
clad::ValueAndAdjoint<Cell&, Cell&> cell_reverse_forw(Grid* g, int i, Grid* d, int) {
  ++calls;
  return {g->cells[i], d->cells[i]};
}
clad::ValueAndAdjoint<double&, double&> operator_subscript_reverse_forw(Grid* g, int i, Grid* d, int) {
  ++calls;
  return {g->more[i], d->more[i]};
}
clad::ValueAndAdjoint<double&, double&> operator_call_reverse_forw(Span* s, int i, Span* d, int) {
  ++calls;
  return {s->data[i], d->data[i]};
}
clad::ValueAndAdjoint<double&, double&> get_reverse_forw(Derived* o, Derived* d) {
  ++calls;
  return {o->d, d->d};
}
template <class T>
clad::ValueAndAdjoint<T&, T&> element_reverse_forw(Row<T>* r, int i, Row<T>* d, int) {
  ++calls;
  return {r->v[i], d->v[i]};
}
clad::ValueAndAdjoint<Point, Point> constructor_reverse_forw(clad::ConstructorReverseForwTag<Point>,
                                                             double px, double py, double, double) {
  ++calls;
  return {Point(px, py), Point(0, 0)};
}
void constructor_pullback(double px, double py, Point* d_this, double* d_px, double* d_py) {
  *d_px += d_this->x + d_this->y * py;
  *d_py += d_this->y * px;
  d_this->x = d_this->y = 0;
}
clad::ValueAndAdjoint<Square, Square> constructor_reverse_forw(clad::ConstructorReverseForwTag<Square>,
                                                               double s, double) {
  ++calls;
  return {Square(s), Square(0)};
}
}  // namespace class_functions

}  // namespace clad::custom_derivatives

namespace {

/// Gradient, forward mode and Hessian; the gradient alone must run `times` functions of the user's.
#define EXPECT_ALL(f, times)                                     \
  do {                                                           \
    calls = 0;                                                   \
    double d_x = 0, d_y = 0;                                     \
    clad::gradient(f).execute(1.3, 0.7, &d_x, &d_y);             \
    EXPECT_EQ(calls, times);                                     \
    EXPECT_GRADIENT(f, 1.3, 0.7);                                \
    double rows[4] = {}, h = 1e-5, up[2] = {}, down[2] = {};     \
    clad::hessian(f).execute(1.3, 0.7, rows);                    \
    clad::gradient(f).execute(1.3 + h, 0.7, &up[0], &up[1]);     \
    clad::gradient(f).execute(1.3 - h, 0.7, &down[0], &down[1]); \
    EXPECT_NEAR(rows[0], (up[0] - down[0]) / (2 * h), 1e-4);     \
    EXPECT_NEAR(rows[1], (up[1] - down[1]) / (2 * h), 1e-4);     \
  } while (false)

double in_a_loop(double x, double y) {
  double a = x, b = y, s = 0;
  for (int i = 0; i < 4; ++i) {
    double& r = larger(a, b);
    r = r * 0.4 + a * b;
    s += r * r * x;
    larger(b, a) *= y;
  }
  return s + a * b;
}
double not_visible(double x, double y) {
  double a = x, b[2] = {y, x * y};
  hidden(a, hidden(b[0], b[1])) *= x;
  double& r = hidden(b[0], a);
  r += a * b[1];
  return a * b[0] + r;
}
double constants_and_temporaries(double x, double y) {
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    const double& r = most(x * i, y * y);
    s += r * most(r, 1.1);
  }
  return s + most(s, x) * y;
}
TEST(Returned, AreReferencesToArguments) {
  EXPECT_ALL(in_a_loop, 8);
  EXPECT_ALL(not_visible, 3);
  EXPECT_ALL(constants_and_temporaries, 7);
}

double with_pointers(double x, double y) {
  double a[3] = {x * 0.1, y, x}, s = 0;
  for (int i = 0; i < 4; ++i) {
    double* p = find(a, 3, i * 0.6);
    if (!p) continue;
    *p *= x;
    s += *p;
  }
  double* q = find(a + 1, 2, 0.2);
  ++q;
  *q += y * y;
  return s * a[1] + a[2];
}
double behind_parameters(double* p, double* q, double y) {
  for (int i = 0; i < 2; ++i) *find(p, 2, 0.1 * i) *= *find(q, 2, 0) * y;
  return p[0] * p[1] * q[0];
}
double with_parameters(double x, double y) {
  double p[2] = {x, y}, q[2] = {x * y, x};
  return behind_parameters(p, q, x) + behind_parameters(q, p, y) + p[0];
}
double in_span(Span& s, double k) {
  for (int i = 0; i + 1 < s.n; ++i) s(i + 1) *= s(i) * k;
  return s(2);
}
TEST(Returned, ArePointers) {
  EXPECT_ALL(with_pointers, 5);
  EXPECT_ALL(with_parameters, 8);
  double v[3] = {1.3, 0.7, 2}, d_v[3] = {}, d_k = 0;
  Span s{v, 3}, d_s{d_v, 3};
  clad::gradient(in_span).execute(s, 0.5, &d_s, &d_k);
  EXPECT_NEAR(d_v[0], 0.7 * 0.25 * 2, 1e-12);
  EXPECT_NEAR(d_v[1], 1.3 * 0.25 * 2, 1e-12);
  EXPECT_NEAR(d_k, 2 * 1.3 * 0.7 * 0.5 * 2, 1e-12);
  EXPECT_EQ(v[2], 2);
}

double inner(Grid& g, double k) {
  double s = 0;
  for (int i = 0; i < 4; ++i) {
    g.cell(i % 2).at(i) *= k + g.cell(1).first();
    s += g.cell(0).at(3 - i) * g[i % 2];
  }
  return s;
}
double recursive(Grid& g, int n, double k) {
  if (n == 0) return g.cell(0).at(0);
  g.cell(n % 2).at(n) *= k;
  return recursive(g, n - 1, k) * g.cell(1).at(n) + inner(g, k);
}
double of_members(double x, double y) {
  Grid g{{{{x, y, 1}, x}, {{y, x * y, 2}, y}}, {x, y}};
  const auto change = [&](double q) {
    Cell& c = g.cell(1);
    c.at(1) *= q;
    g[0] += q * g[1];
    return c.at(1) + inner(g, y);
  };
  return inner(g, x) + change(x) * change(y) + recursive(g, 2, y);
}
double of_other_classes(double x, double y) {
  Other o{{x, y, x * y}};
  Derived d;
  d.b = x;
  d.d = y;
  Row<double> r{{x, y, 1, 2}};
  for (int i = 0; i < 3; ++i) r.element(i + 1) *= r.element(i) * d.get();
  o.at(0) *= r.element(3);
  d.get() *= o.at(0);
  return d.get() * o.at(1) * o.at(0) + d.b;
}
double in_classes_with_state(double x, double y) {
  Cell c{{x, y, 1}, y};
  double s = 0;
  for (int i = 0; i < 3; ++i) s += c.grow(x + i) * c.at(1);
  return s * c.at(3);
}
TEST(Returned, AreMembers) {
  EXPECT_GRADIENT(of_members, 1.3, 0.7);
  EXPECT_ALL(of_other_classes, 12);
  EXPECT_ALL(in_classes_with_state, 7);
}

double changes_and_selects(double x, double y) {
  double a = x, b = y;
  for (int i = 0; i < 3; ++i) {
    double& r = scale_other(a, b, x);
    r *= 1.1;
    b += a * r;
  }
  return a * b;
}
TEST(Returned, ByFunctionsThatChangeTheirArguments) {
  calls = 0;
  EXPECT_REVERSE_GRADIENT(changes_and_selects, 1.3, 0.7);
  double d_x = 0, d_y = 0;
  clad::gradient(changes_and_selects).execute(1.3, 0.7, &d_x, &d_y);
  calls = 0;
  EXPECT_NEAR(clad::differentiate(changes_and_selects, "x").execute(1.3, 0.7), d_x, 1e-12);
  EXPECT_EQ(calls, 3);
}

double of_no_argument(double x, double y) {
  double a = x;
  return inside_or_not(a, y) * x;
}
TEST(Returned, MustBeArguments) {
  double d_x = 0, d_y = 0;
  clad::gradient(of_no_argument).execute(1.3, 0.7, &d_x, &d_y);
  EXPECT_NEAR(d_x, 2.6, 1e-12);
  EXPECT_THROW(clad::gradient(of_no_argument).execute(1.3, -0.7, &d_x, &d_y), std::logic_error);
}

double by_value(double x, double y) {
  double s = x;
  for (int i = 0; i < 2; ++i) s = product(s, y + i) + alone(s, y) * x;
  return s;
}
double made(double x, double y) {
  double s = 1;
  for (int i = 0; i < 3; ++i) {
    const Point p(x + i, y * s);
    const Square q(p.y);
    s += q.area * p.x * 0.1;
  }
  return s * Point(y, x).y;
}
double checkpointed(double x, double y) {
  double a = x, b = y;
  for (int i = 0; i < 7; ++i) {
    clad::checkpoint_loop(2);
    double& r = larger(a, b);
    r = r * 0.4 + a * y;
    b *= x;
  }
  return a * b;
}
TEST(Returned, AreValuesAndObjects) {
  EXPECT_ALL(by_value, 4);
  EXPECT_ALL(made, 7);
  EXPECT_GRADIENT(checkpointed, 1.3, 0.7);
}

}  // namespace

double& hidden(double& u, double& v) { return u > v ? u : v; }
