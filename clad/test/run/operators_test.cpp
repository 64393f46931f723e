// Overloads and operators of classes.
#include <utility>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double over(double x) { return x * x; }
double over(double x, int n) { return x * n; }
double over(int n) { return n; }
float over(float x) { return 3 * x; }
double overloads(double x) { return over(x) * over(x, 3) + over(2) * x + over(static_cast<float>(x)) * 0; }
TEST(Operators, OverloadsAreToldApart) {
  EXPECT_GRADIENT(overloads, 1.25);
  auto g = clad::gradient(static_cast<double (*)(double, int)>(over), "x");
  double d_x = 0;
  g.execute(1.5, 4, &d_x);
  EXPECT_EQ(4, d_x);
}

struct V {
  double x, y;
  V operator+(const V& o) const { return {x + o.x, y + o.y}; }
  V operator-() const { return {-x, -y}; }
  V& operator+=(const V& o) {
    x += o.x;
    y += o.y;
    return *this;
  }
  V& operator*=(double k) {
    x *= k;
    y *= k;
    return *this;
  }
  V& operator++() {
    x += 1;
    return *this;
  }
  V operator++(int) {
    V old = *this;
    ++*this;
    return old;
  }
  double operator()(double t) const { return x + t * y; }
  explicit operator double() const { return x * y; }
  bool operator<(const V& o) const { return x < o.x; }
  friend V operator*(double k, const V& v) { return {k * v.x, k * v.y}; }
  friend double operator*(const V& a, const V& b) { return a.x * b.x + a.y * b.y; }
  template <class W>
  void reals(W&& w) {
    w(x), w(y);
  }
};
V operator-(const V& a, const V& b) { return V{a.x - b.x, a.y - b.y}; }
V& operator-=(V& a, const V& b) {
  a.x -= b.x;
  a.y -= b.y;
  return a;
}

double expressions(V a, V b, double t) {
  V c = a + 2 * b - -a;
  c += b;
  c *= t;
  double d = c * a + c(t);
  V e = c++;
  ++e;
  d += static_cast<double>(e) * (a < b ? c.x : e.y);
  (c += a) += b;
  c -= a;
  return d * (c * c) + e * c;
}
TEST(Operators, MemberFreeAndHiddenFriend) {
  EXPECT_GRADIENT(expressions, V{1, 2}, V{0.5, 0.3}, 0.7);
  EXPECT_GRADIENT(expressions, V{0.1, 2}, V{0.5, 0.3}, 0.7);
}

double in_a_loop(V a, int n) {
  V s{0, 1};
  for (int i = 0; i < n; ++i) {
    s = s + i * a;
    s *= a(s.x * 0.1);
    if (s < a) s -= a;
  }
  return s * s;
}
TEST(Operators, RepeatedInALoop) { EXPECT_GRADIENT(in_a_loop, V{0.5, 0.3}, 4); }

struct Row {
  double v[3];
  double& operator[](int i) { return v[i]; }
  const double& operator[](int i) const { return v[i]; }
};
struct Grid {
  Row rows[2];
  Row& operator[](int i) { return rows[i]; }
  const Row& operator[](int i) const { return rows[i]; }
  double& operator()(int i, int j) { return rows[i][j]; }
};
double total(const Grid& g) {
  double s = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) s += g[i][j] * g[1 - i][j] * (i + 1);
  return s;
}
double subscripts(double x) {
  Grid g{};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) g[i][j] = x * (i + 1) + j;
  int k = 0;
  g[k++][2] *= x;
  g(1, k) += g[0][2];
  std::swap(g[0], g[1]);
  return total(g);
}
TEST(Operators, SubscriptAndCallThatReturnReferences) { EXPECT_GRADIENT(subscripts, 0.7); }

struct Dual {
  double v;
  Dual(double x) : v(x) {}
  Dual operator*(const Dual& o) const { return Dual(v * o.v); }
  bool operator==(const Dual&) const = default;
};
double implicit_conversion(double x) {
  Dual d = x;
  Dual e = d * x * 2.0;
  if (e == d) return 0;
  return e.v * d.v;
}
TEST(Operators, ImplicitConversionByConstructor) { EXPECT_GRADIENT(implicit_conversion, 1.3); }

// Overloads for what is const, what may be changed and what is about to end.
struct Part {
  double s;
};
struct Whole {
  double s;
  double mean() const& { return s; }
  double mean() && { return s + 1; }
  double get() const&& { return s; }
  double get() && { return s * 2; }
  double get() const& { return s * 3; }
  double get() & { return s * 4; }
  double operator()(double t) & { return s += t; }
  double operator()(double t) && { return s * t; }
  double operator*() const& { return s; }
  double operator*() && { return s * s; }
  double operator[](int) & { return s; }
  double operator[](int) && { return s * 3; }
  double operator-() const { return -s; }
  double operator-() { return -s * 2; }
  template <class T>
  double scaled(T k) const {
    return s * k;
  }
  template <class T>
  double scaled(T k) {
    return s * k * 2;
  }
  friend double operator+(const Whole& a, double k) { return a.s * k; }
  friend double operator+(Whole& a, double k) { return a.s * k * 2; }
  friend double operator+(Whole&& a, double k) { return a.s * k * 3; }
};
double of_temporaries(double x, double y) {
  Whole b{x}, c{y};
  const Whole d{x * y};
  double m = b.mean() * std::move(c).mean() + Whole{y}.mean() * d.mean();
  m += b.get() * std::move(b).get() + d.get() * std::move(d).get();
  return m + Whole{x}.get() * y;
}
double operators_of_temporaries(double x, double y) {
  Whole b{x};
  const Whole c{y};
  const double u = b(y);
  double m = Whole{x}(y)*u + std::move(b)(x) * y;
  m += *b * x + *Whole{y} * x + b[0] * x + Whole{x}[1] * y + *std::move(b);
  return m + (c + y) * (b + x) + (Whole{x} + y) * (std::move(b) + x) + -b * -c + b.scaled(x) * c.scaled(y);
}
TEST(Operators, OverloadsForTemporariesAndConstants) {
  EXPECT_GRADIENT(of_temporaries, 1.3, 0.7);
  EXPECT_GRADIENT(operators_of_temporaries, 1.3, 0.7);
}

double taken(Part& b) { return b.s; }
double taken(const Part& b) { return b.s * 2; }
double taken(Part&& b) { return b.s * 3; }
double taken(double& b) {
  b *= 2;
  return b;
}
double taken(const double& b) { return b * b; }
double taken(double&& b) { return b * 3; }
double taken(const double* p) { return *p * *p; }
double taken(double* p) { return *p; }
template <class T>
double any(T& b) {
  return b.s;
}
template <class T>
double any(const T& b) {
  return b.s * 2;
}
template <class T>
double forwarded(T&& b) {
  return b.s * 3;
}
double forwarded(const Part& b) { return b.s * 2; }
template <class T>
double pointed(T p) {
  return *p;
}
double pointed(const double* p) { return *p * *p; }
template <class... T>
double all_of(T&&... b) {
  return (b.s * ...);
}
double all_of(const Part& a, const Part& b) { return b.s * a.s * 2; }
struct Made {
  double s;
  Made(Part& a) : s(a.s) {}
  Made(const Part& a) : s(a.s * 2) {}
  Made(Part&& a) : s(a.s * 3) {}
};
double overloads_for_constants(double x, double y) {
  Part b{x};
  const Part c{y};
  double m = taken(b) * taken(c) * taken(Part{x * y}) + taken(std::move(b)) * x;
  m += any(b) * any(c) * any(Part{x}) + forwarded(b) * forwarded(c);
  const double k = y * x, fixed[2] = {x, y};
  double changing[2] = {y, x};
  const double* p = changing;
  m += taken(fixed) * taken(changing) + taken(p) * x + taken(x) * taken(k) * taken(x * y);
  m += pointed(fixed) * pointed(changing) * pointed(p) + all_of(b, b) * all_of(c, c) * all_of(c, b);
  Made d(b), e(c), f(Part{x * y}), g(std::move(b));
  return m + d.s * e.s * f.s + g.s;
}
TEST(Operators, OverloadsForReferencesAndPointers) { EXPECT_GRADIENT(overloads_for_constants, 1.3, 0.7); }

struct Comma {
  double a, b;
  Comma operator,(const Comma& o) const { return {a * o.a, b * o.b}; }
  friend double operator,(const Comma& c, double k) { return c.a * k; }
};
double product_of(Comma c) { return c.a * c.b; }
double commas(double x, double y) {
  Comma p{x, y}, q{y, x};
  Comma z = (p, q);
  double s = (z, x);
  s = (p, y), s *= s;
  const double list[2] = {(p, x), (q, x)};
  return z.a * z.b + s + product_of((p, q, p)) * (z, list[0]) + list[1];
}
TEST(Operators, CommasThatAreFunctions) { EXPECT_GRADIENT(commas, 1.3, 0.7); }

}  // namespace
