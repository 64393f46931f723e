// Objects that hold pointers: what is copied, assigned, exchanged and owned.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

namespace copies {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  View v{a, 4};
  View w = v;
  w.p += 1;
  w.n = 2;
  View u = w;
  u.p++;
  u.n--;
  std::swap(v, w);
  return v.sum() * w.sum() + u.sum();
}
}  // namespace copies

namespace assigned {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  View v{a, 4}, w{a + 1, 2};
  double s = w.sum();
  w = v;
  s *= w.sum();
  v = View{a + 2, 2};
  return s * v.sum() + w.p[0];
}
}  // namespace assigned

namespace named {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2}, b[2] = {y, x};
  View v{a, 4}, w{b, 2};
  const View& r = x > y ? v : w;
  View& q = x < y ? v : w;
  q.p[0] *= x;
  return r.sum() * q.n * q.sum();
}
}  // namespace named

namespace pointed_to {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double g(const View* v) { return v ? v->sum() : 0; }
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  View v{a, 4};
  View* p = &v;
  p->p[1] *= x;
  p->n = 3;
  return g(p) * g(nullptr) + p->sum() + g(&v);
}
}  // namespace pointed_to

namespace chained {
struct B {
  double* p;
  double k = 1;
  B& scale(double f) {
    k *= f;
    return *this;
  }
  B& add(double v) {
    p[0] += k * v;
    return *this;
  }
};
double value(double x, double y) {
  double a[1] = {x};
  B b{a};
  b.scale(y).add(x).scale(x).add(y);
  return a[0] * b.k;
}
}  // namespace chained

namespace temporaries {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  std::vector<double> a{x, y, x};
  return View{a.data(), 2}.sum() * View{a.data() + 1, 2}.sum();
}
}  // namespace temporaries

// A reference to a member sees what it becomes.
namespace exchanged {
struct V {
  double* p;
  double k;
};
double value(double x, double y) {
  double a[2] = {x, y}, b[2] = {y, 1};
  V v{a, x}, w{b, y};
  double& k = v.k;
  std::swap(v, w);
  k *= x;
  return v.k * w.k * v.p[0] + w.p[1];
}
}  // namespace exchanged

namespace cursor {
struct Cur {
  const double* p;
  const double* e;
  bool done() const { return p == e; }
  double next() { return *p++; }
};
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  Cur c{a, a + 4};
  double s = 1;
  while (!c.done()) {
    double v = c.next();
    if (v < 0.8) continue;
    s = s * v + y;
  }
  return s;
}
}  // namespace cursor

// A row of a matrix.
namespace rows {
struct M {
  double d[4];
  double* row(int i) { return d + 2 * i; }
};
struct Row {
  double* r;
  double& operator[](int j) { return r[j]; }
};
struct Mat {
  std::vector<double> d;
  int c;
  Row operator[](int i) { return {&d[i * c]}; }
};
double value(double x, double y) {
  Mat m{{x, y, 1, x * y}, 2};
  m[0][1] *= x;
  m[1][0] = m[0][1] + m[1][1];
  return m[0][0] * m[1][0] + M{{x, y, x, 1}}.row(1)[0];
}
}  // namespace rows

namespace curiously_recurring {
template <class D>
struct Base {
  double norm() const {
    auto& d = static_cast<const D&>(*this);
    double s = 0;
    for (int i = 0; i < d.size(); ++i) s += d[i] * d[i];
    return s;
  }
};
struct V : Base<V> {
  const double* p;
  int n;
  V(const double* p, int n) : p(p), n(n) {}
  int size() const { return n; }
  double operator[](int i) const { return p[i]; }
};
double value(double x, double y) {
  double a[3] = {x, y, x * y};
  return V(a, 3).norm() * V(a + 1, 2).norm();
}
}  // namespace curiously_recurring

// Expression templates.
namespace expressions {
struct A {
  const double* p;
  double operator[](int i) const { return p[i]; }
};
template <class L, class R>
struct Sum {
  L l;
  R r;
  double operator[](int i) const { return l[i] + r[i]; }
};
template <class L, class R>
struct Mul {
  L l;
  R r;
  double operator[](int i) const { return l[i] * r[i]; }
};
template <class L, class R>
Sum<L, R> operator+(L l, R r) {
  return {l, r};
}
template <class L, class R>
Mul<L, R> operator*(L l, R r) {
  return {l, r};
}
double value(double x, double y) {
  double a[3] = {x, y, x * y}, b[3] = {y, x, 1};
  A u{a}, v{b};
  auto e = u + v * u + v;
  double s = 0;
  for (int i = 0; i < 3; ++i) s += e[i] * e[i];
  return s;
}
}  // namespace expressions

namespace friends {
struct V2 {
  const double* p;
  static double dot(const V2& a, const V2& b) { return a.p[0] * b.p[0] + a.p[1] * b.p[1]; }
  friend double operator*(const V2& a, const V2& b) { return dot(a, b); }
};
double value(double x, double y) {
  double a[2] = {x, y}, b[2] = {y * y, x};
  return V2{a} * V2{b};
}
}  // namespace friends

namespace algorithms {
struct View {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  View v{a, 4};
  std::transform(v.p, v.p + v.n, v.p, [](double t) { return t * t; });
  double k = std::accumulate(v.p, v.p + v.n, 0.0);
  std::sort(v.p, v.p + v.n);
  return k * v.p[0] + v.p[3];
}
}  // namespace algorithms

namespace array {
struct Own {
  double* d;
  int n;
  Own(int n) : d(new double[n]), n(n) {}
  ~Own() { delete[] d; }
  double& operator[](int i) { return d[i]; }
  Own(const Own&) = delete;
};
double value(double x, double y) {
  Own o(3);
  o[0] = x;
  o[1] = y;
  o[2] = o[0] * o[1];
  double s = 0;
  for (int i = 0; i < o.n; ++i) s += o[i] * o[i];
  return s;
}
}  // namespace array

namespace unique_array {
struct Model {
  std::unique_ptr<double[]> w;
  int n;
  explicit Model(int n) : w(std::make_unique<double[]>(n)), n(n) {}
  double eval(double x) const {
    double s = 0;
    for (int i = n - 1; i >= 0; --i) s = s * x + w[i];
    return s;
  }
};
double value(double x, double y) {
  Model m(3);
  m.w[0] = y;
  m.w[1] = x;
  m.w[2] = x * y;
  return m.eval(x);
}
}  // namespace unique_array

// The rule of three.
namespace matrix {
class Matrix {
  double* d;
  int r, c;

 public:
  Matrix(int r, int c) : d(new double[r * c]()), r(r), c(c) {}
  Matrix(const Matrix& o) : d(new double[o.r * o.c]), r(o.r), c(o.c) {
    for (int i = 0; i < r * c; ++i) d[i] = o.d[i];
  }
  ~Matrix() { delete[] d; }
  double& operator()(int i, int j) { return d[i * c + j]; }
  double operator()(int i, int j) const { return d[i * c + j]; }
  Matrix operator*(const Matrix& o) const {
    Matrix m(r, o.c);
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < o.c; ++j) {
        double s = 0;
        for (int k = 0; k < c; ++k) s += (*this)(i, k) * o(k, j);
        m(i, j) = s;
      }
    return m;
  }
  double trace() const {
    double s = 0;
    for (int i = 0; i < r; ++i) s += d[i * c + i];
    return s;
  }
};
double value(double x, double y) {
  Matrix a(2, 2), b(2, 2);
  a(0, 0) = x;
  a(0, 1) = y;
  a(1, 0) = 1;
  a(1, 1) = x * y;
  b(0, 0) = y;
  b(1, 1) = x;
  Matrix c = a * b;
  Matrix e = c;
  e(0, 0) *= 2;
  return (c * e).trace() + c.trace();
}
}  // namespace matrix

namespace self_assignment {
class Matrix {
  double* d;
  int r, c;

 public:
  Matrix(int r, int c) : d(new double[r * c]()), r(r), c(c) {}
  Matrix(const Matrix& o) : d(new double[o.r * o.c]), r(o.r), c(o.c) {
    for (int i = 0; i < r * c; ++i) d[i] = o.d[i];
  }
  ~Matrix() { delete[] d; }
  double& operator()(int i, int j) { return d[i * c + j]; }
  double operator()(int i, int j) const { return d[i * c + j]; }
  Matrix& operator=(const Matrix& o) {
    if (this != &o) {
      for (int i = 0; i < r * c; ++i) d[i] = o.d[i];
    }
    return *this;
  }
  Matrix operator*(const Matrix& o) const {
    Matrix m(r, o.c);
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < o.c; ++j) {
        double s = 0;
        for (int k = 0; k < c; ++k) s += (*this)(i, k) * o(k, j);
        m(i, j) = s;
      }
    return m;
  }
};
double value(double x, double y) {
  Matrix a(2, 2), p(2, 2);
  a(0, 0) = x;
  a(0, 1) = y;
  a(1, 0) = 0.3;
  a(1, 1) = x * y;
  p(0, 0) = p(1, 1) = 1;
  for (int k = 0; k < 3; ++k) p = p * a;
  return p(0, 0) + 2 * p(0, 1) + p(1, 1);
}
}  // namespace self_assignment

namespace rule_of_five {
class Buf {
  double* d;
  int n;

 public:
  explicit Buf(int n) : d(new double[n]()), n(n) {}
  Buf(const Buf& o) : Buf(o.n) { std::copy(o.d, o.d + n, d); }
  Buf(Buf&& o) noexcept : d(std::exchange(o.d, nullptr)), n(std::exchange(o.n, 0)) {}
  ~Buf() { delete[] d; }
  double& operator[](int i) { return d[i]; }
  int size() const { return n; }
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += d[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  Buf a(3);
  a[0] = x;
  a[1] = y;
  a[2] = x * y;
  Buf b = a;
  b[0] *= 2;
  Buf c = std::move(a);
  c[1] += x;
  return b.sum() * c.sum() + a.size();
}
}  // namespace rule_of_five

namespace copy_and_swap {
class Buf {
  double* d;
  int n;

 public:
  explicit Buf(int n) : d(new double[n]()), n(n) {}
  Buf(const Buf& o) : Buf(o.n) { std::copy(o.d, o.d + n, d); }
  Buf& operator=(Buf o) {
    swap(*this, o);
    return *this;
  }
  friend void swap(Buf& a, Buf& b) {
    std::swap(a.d, b.d);
    std::swap(a.n, b.n);
  }
  ~Buf() { delete[] d; }
  double& operator[](int i) { return d[i]; }
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += d[i] * (i + 1);
    return s;
  }
};
double value(double x, double y) {
  Buf a(2), b(3);
  a[0] = x;
  a[1] = y;
  b[2] = x * y;
  b[0] = y;
  b = a;
  b[0] *= x;
  swap(a, b);
  return a.sum() * a.sum() * b.sum();
}
}  // namespace copy_and_swap

namespace smart {
struct Node {
  double v;
};
struct Holder {
  std::unique_ptr<Node> n;
  std::shared_ptr<double> k;
  double get() const { return n->v * *k; }
};
double value(double x, double y) {
  Holder h{std::make_unique<Node>(Node{x}), std::make_shared<double>(y)};
  h.n->v *= 2;
  *h.k += x;
  return h.get();
}
}  // namespace smart

namespace pimpl {
class Solver {
  struct Impl {
    double a, b;
    std::vector<double> h;
  };
  std::unique_ptr<Impl> p;

 public:
  Solver(double a, double b) : p(std::make_unique<Impl>()) {
    p->a = a;
    p->b = b;
  }
  void step() {
    p->h.push_back(p->a);
    p->a += p->b * 0.1;
    p->b -= p->a * 0.1;
  }
  double out() const {
    double s = p->a;
    for (double v : p->h) s += v * v;
    return s;
  }
};
double value(double x, double y) {
  Solver s(x, y);
  for (int i = 0; i < 4; ++i) s.step();
  return s.out();
}
}  // namespace pimpl

namespace moved_from {
struct N {
  std::unique_ptr<double> p;
  double get() const { return p ? *p : 1; }
};
double value(double x, double y) {
  N a{std::make_unique<double>(x)};
  N b;
  b.p = std::move(a.p);
  double s = a.get() * b.get();
  a.p = std::make_unique<double>(y);
  b.p.reset();
  return s * a.get() * b.get() + (b.p ? 5 : x);
}
}  // namespace moved_from

namespace local_moved_from {
double value(double x, double y) {
  auto p = std::make_unique<double>(x);
  auto q = std::move(p);
  return p ? x : *q * y;
}
}  // namespace local_moved_from

namespace pairs_of_references {
double value(double x, double y) {
  std::pair<double&, double&> both(x, y);
  both = std::make_pair(y * y, x);
  both = std::pair<double, double>{y, x * y};
  return x * x + y;
}
}  // namespace pairs_of_references

namespace pairs {
std::pair<double*, double*> both(std::vector<double>& v) { return {&v[0], &v[1]}; }
std::pair<double*, int> counted(std::vector<double>& v, int i) { return std::make_pair(&v[i], i); }
double scaled(const std::pair<const double*, int>& p, double by) { return *p.first * p.second * by; }
double value(double x, double y) {
  std::vector<double> v{x, y, 3};
  auto p = both(v);
  auto [first, second] = both(v);
  *p.first *= x;
  const auto c = counted(v, 1);
  std::pair<double*, double*> q(p.first, second), r;
  r = q;
  *std::get<0>(r) += y;
  const std::pair<const double*, int> last(&v[2], 2);
  std::pair<const double*, const double*> now{&v[0], &v[1]}, next{&v[1], &v[2]};
  std::swap(now, next);
  return *first * *p.second + *c.first * c.second * *second + *q.first * *r.second + scaled(last, x) +
         *now.first * *next.first;
}
}  // namespace pairs

namespace moved_pointers {
double sum(double*&& p, double&& by) { return p[1] * by; }
double scale(double*&& p, double by) {
  for (int i = 0; i < 2; ++i) p[i] *= by;
  return *p;
}
double of_iterators(std::vector<double>::iterator&& first, std::vector<double>::const_iterator&& last) {
  *first *= 2;
  return *first * last[-1];
}
double value(double x, double y) {
  std::vector<double> v{x, 2 * y, 3};
  double* p = &v[0];
  double z = 3;
  double s = sum(v.data(), x * x) + sum(&v[1], std::move(x)) + sum(std::move(p), std::move(z)) * *p;
  s *= scale(v.data(), y);
  return s + of_iterators(v.begin(), v.cend()) * v[0];
}
}  // namespace moved_pointers

TEST(PartsCopies, Values) {
  EXPECT_DERIVATIVES(copies::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(assigned::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(named::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pointed_to::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(chained::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(temporaries::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(exchanged::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(cursor::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pairs::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pairs_of_references::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(moved_pointers::value, 1.3, 0.7);
}
TEST(PartsCopies, Templates) {
  EXPECT_DERIVATIVES(rows::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(curiously_recurring::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(expressions::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(friends::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(algorithms::value, 1.3, 0.7);
}
TEST(PartsCopies, Owners) {
  EXPECT_DERIVATIVES(array::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(unique_array::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(matrix::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(self_assignment::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(rule_of_five::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(copy_and_swap::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(smart::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pimpl::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(moved_from::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(local_moved_from::value, 1.3, 0.7);
}

}  // namespace
