// Objects that hold pointers or references: views, and solvers on the state of others.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

namespace view {
struct View {
  double* p;
  int n;
  double& operator[](int i) { return p[i]; }
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i];
    return s;
  }
};
double value(double x, double y) {
  double a[3] = {x, y, x * y};
  View v{a, 3};
  v[1] = v[0] * v[2];
  return v.sum();
}
}  // namespace view

namespace two_views {
struct View {
  const double* p;
  int n;
  double dot(const View& o) const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * o.p[i];
    return s;
  }
};
double value(double x, double y) {
  double a[3] = {x, y, x * y}, b[3] = {y, x, 2};
  View v{a, 3}, w{b, 3};
  return v.dot(w);
}
}  // namespace two_views

// Passed by value.
namespace matrix_view {
class Mat {
  double* d_;
  int r_, c_;

 public:
  Mat(double* d, int r, int c) : d_(d), r_(r), c_(c) {}
  double& operator()(int i, int j) { return d_[i * c_ + j]; }
  double operator()(int i, int j) const { return d_[i * c_ + j]; }
  int rows() const { return r_; }
};
double tr(Mat m) {
  double s = 0;
  for (int i = 0; i < m.rows(); ++i) s += m(i, i);
  return s;
}
double value(double x, double y) {
  double a[4];
  Mat m(a, 2, 2);
  m(0, 0) = x;
  m(0, 1) = y;
  m(1, 0) = x * y;
  m(1, 1) = y * y;
  return tr(m) * m(0, 1);
}
}  // namespace matrix_view

namespace early_return {
struct V {
  const double* p;
  int n;
  double first_above(double t) const {
    for (int i = 0; i < n; ++i)
      if (p[i] > t) return p[i] * p[i];
    return 0;
  }
  int find(double t) const {
    for (int i = 0; i < n; ++i)
      if (p[i] > t) return i;
    return -1;
  }
};
double value(double x, double y) {
  double a[4] = {x * 0.1, y, x, x * y};
  V v{a, 4};
  int k = v.find(0.8);
  return v.first_above(0.5) + v.first_above(1.0) * a[k];
}
}  // namespace early_return

namespace made_by_functions {
struct V {
  double* p;
  int n;
};
V sub(V v, int from, int n) { return {v.p + from, n}; }
V rest(const V& v) { return sub(v, 1, v.n - 1); }
double value(double x, double y) {
  double a[4] = {x, y, x * y, 3};
  V v{a, 4};
  V w = rest(rest(v));
  w.p[0] *= x;
  auto u = sub(v, 1, 2);
  return w.p[0] * u.p[0] + u.p[1] * w.n;
}
}  // namespace made_by_functions

namespace in_loops {
struct V {
  const double* p;
  int n;
  double dot(const V& o) const { return std::inner_product(p, p + n, o.p, 0.0); }
};
double value(double x, double y) {
  double a[9];
  for (int i = 0; i < 9; ++i) a[i] = x + i * y;
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    V r{a + 3 * i, 3};
    for (int j = 0; j < 3; ++j) {
      V q{a + 3 * j, 3};
      s += r.dot(q) * (i + 2 * j);
    }
  }
  return s;
}
}  // namespace in_loops

namespace of_spans {
struct Grid {
  std::span<double> s;
  int nx;
  double& operator()(int i, int j) { return s[i * nx + j]; }
  double lap(int i, int j) { return (*this)(i - 1, j) + (*this)(i + 1, j) - 2 * (*this)(i, j); }
};
double value(double x, double y) {
  std::vector<double> a(9, x);
  Grid g{a, 3};
  g(1, 1) = y * x;
  g(0, 1) = y;
  double s = 0;
  for (int j = 0; j < 3; ++j) s += g.lap(1, j) * g.lap(1, j);
  return s;
}
}  // namespace of_spans

// An iterator of one's own.
namespace iterators {
struct It {
  const double* p;
  It& operator++() {
    ++p;
    return *this;
  }
  double operator*() const { return *p; }
  bool operator!=(const It& o) const { return p != o.p; }
};
struct R {
  const double* b;
  const double* e;
  It begin() const { return {b}; }
  It end() const { return {e}; }
};
double value(double x, double y) {
  double a[3] = {x, y, x * y};
  double s = 0;
  for (double v : R{a, a + 3}) s += v * v;
  return s;
}
}  // namespace iterators

// A solver on somebody's state.
namespace stepper {
struct State {
  double pos, vel;
};
struct Sim {
  State* s;
  double dt;
  void step(double k) {
    s->vel -= k * s->pos * dt;
    s->pos += s->vel * dt;
  }
};
double value(double x, double y) {
  State s{x, 0};
  Sim sim{&s, 0.1};
  for (int i = 0; i < 5; ++i) sim.step(y);
  return s.pos;
}
}  // namespace stepper

// Buffers change places.
namespace ping_pong {
struct Heat {
  double *u, *un;
  int n;
  double dt;
  Heat(double* a, double* b, int n, double dt) : u(a), un(b), n(n), dt(dt) {}
  void step() {
    for (int i = 1; i + 1 < n; ++i) un[i] = u[i] + dt * (u[i - 1] - 2 * u[i] + u[i + 1]);
    un[0] = u[0];
    un[n - 1] = u[n - 1];
    std::swap(u, un);
  }
  double energy() const {
    double e = 0;
    for (int i = 0; i < n; ++i) e += u[i] * u[i];
    return e;
  }
};
double value(double x, double y) {
  double a[5] = {x, y, x * y, 1, 2}, b[5] = {};
  Heat h(a, b, 5, 0.1);
  for (int t = 0; t < 7; ++t) h.step();
  return h.energy();
}
}  // namespace ping_pong

namespace nested {
struct V {
  double* p;
  int n;
  double& at(int i) { return p[i]; }
};
struct Sys {
  V pos, vel;
  double m;
  double kin() {
    double e = 0;
    for (int i = 0; i < pos.n; ++i) e += 0.5 * m * vel.at(i) * vel.at(i);
    return e;
  }
  void kick(double f) {
    for (int i = 0; i < vel.n; ++i) vel.at(i) += f * pos.at(i);
    m *= 1.1;
  }
};
double value(double x, double y) {
  double q[2] = {x, y}, v[2] = {y, 1};
  Sys s{{q, 2}, {v, 2}, x};
  s.kick(y);
  s.kick(x);
  return s.kin() * s.m;
}
}  // namespace nested

namespace derived {
struct Base {
  double scale = 2;
  double* p;
  Base(double* p) : p(p) {}
  double get(int i) const { return scale * p[i]; }
};
struct Der : Base {
  int n;
  Der(double* p, int n) : Base(p), n(n) { scale = p[0]; }
  double total() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += get(i);
    return s;
  }
};
double g(const Base& b) { return b.get(1) * b.scale; }
double value(double x, double y) {
  double a[3] = {x, y, x * y};
  Der d(a, 3);
  d.p[2] = y;
  return d.total() + g(d);
}
}  // namespace derived

namespace potential {
struct Pot {
  virtual double e(double r) const = 0;
  virtual ~Pot() = default;
};
struct LJ : Pot {
  const double* par;
  LJ(const double* p) : par(p) {}
  double e(double r) const override { return par[0] * (std::pow(r, -12) - par[1] * std::pow(r, -6)); }
};
double run(const Pot& p) { return p.e(1.1) + p.e(1.5); }
double value(double x, double y) {
  double par[2] = {x, y};
  LJ l(par);
  return run(l) * l.e(1.2);
}
}  // namespace potential

namespace captured {
struct V {
  double* p;
  int n;
  double sum() const {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i];
    return s;
  }
};
double value(double x, double y) {
  double a[3] = {x, y, x * y};
  V v{a, 3};
  auto g = [&](double k) { return v.sum() * k + v.p[0]; };
  auto h = [v](int i) { return v.p[i] * v.n; };
  return g(x) * h(1) + g(y);
}
}  // namespace captured

namespace passed_on {
struct Params {
  double* w;
  double lr;
};
void sgd(Params& p, double g, int i) { p.w[i] -= p.lr * g; }
double value(double x, double y) {
  double w[2] = {x, y};
  Params p{w, 0.1};
  for (int k = 0; k < 4; ++k) {
    sgd(p, 2 * w[0] * w[1], 0);
    sgd(p, w[0] * w[0], 1);
    p.lr *= 0.9;
  }
  return w[0] + 3 * w[1] * p.lr;
}
}  // namespace passed_on

// Integers that change.
namespace counter {
struct C {
  const int* n;
};
double value(double x, double y) {
  int n = 2;
  C c{&n};
  double r = y;
  for (int i = 0; i < 3; ++i) {
    r = r * x * *c.n;
    n *= 2;
  }
  return r;
}
}  // namespace counter

namespace shared_counter {
struct Cnt {
  int* n;
  double* v;
  double f(double t) {
    ++*n;
    return *v * t + *n;
  }
};
double value(double x, double y) {
  int n = 0;
  double v = x;
  Cnt c{&n, &v}, d{&n, &v};
  return c.f(y) * d.f(x);
}
}  // namespace shared_counter

namespace aggregate_base {
struct B2 {
  double b;
};
struct M : B2 {
  double* a;
  M(double* a, double b) : B2{b}, a(a) {}
};
double value(double x, double y) {
  double a[1] = {x};
  M m(a, y);
  return m.b * m.a[0];
}
}  // namespace aggregate_base

namespace text {
struct VM {
  double* s;
  double c;
  void run(const char* p) {
    for (; *p; ++p) *s += c;
  }
};
double value(double x, double y) {
  double s = 0;
  VM v{&s, x};
  v.run("01");
  return s;
}
}  // namespace text

// Indices that change later.
namespace sparse {
struct CSR {
  const int *row, *col;
  const double* v;
  int n;
  void mul(const double* x, double* y) const {
    for (int i = 0; i < n; ++i) {
      y[i] = 0;
      for (int k = row[i]; k < row[i + 1]; ++k) y[i] += v[k] * x[col[k]];
    }
  }
};
double value(double x, double y) {
  int r[4] = {0, 2, 3, 5}, c[5] = {0, 2, 1, 0, 2};
  double v[5] = {x, y, x * y, 1, x}, a[3] = {y, x, 2}, b[3];
  CSR m{r, c, v, 3};
  m.mul(a, b);
  c[0] = 1;
  r[1] = 1;
  m.mul(b, a);
  return a[0] + a[1] * a[2];
}
}  // namespace sparse

namespace reference {
struct Ref {
  double& r;
  Ref(double& r) : r(r) {}
  void add(double v) { r += v; }
};
double value(double x, double y) {
  double s = x;
  Ref a(s);
  a.add(y * x);
  a.add(s);
  return s;
}
}  // namespace reference

namespace accumulator {
struct Acc {
  double& s;
  int& n;
  Acc& operator<<(double v) {
    s += v * v;
    ++n;
    return *this;
  }
};
double value(double x, double y) {
  double s = 0;
  int n = 0;
  Acc a{s, n};
  a << x << y << x * y;
  return s / n;
}
}  // namespace accumulator

namespace optimizer {
struct Opt {
  std::vector<double>& w;
  double lr;
  void step(const std::vector<double>& g) {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= lr * g[i];
  }
};
double value(double x, double y) {
  std::vector<double> w{x, y};
  Opt o{w, 0.1};
  for (int k = 0; k < 3; ++k) o.step({2 * w[0], w[1] * w[0]});
  return w[0] * w[1];
}
}  // namespace optimizer

namespace pointer_to_vector {
struct Opt {
  std::vector<double>* w;
  double lr;
  void step(const std::vector<double>& g) {
    for (std::size_t i = 0; i < w->size(); ++i) (*w)[i] -= lr * g[i];
  }
};
double value(double x, double y) {
  std::vector<double> w{x, y};
  Opt o{&w, 0.1};
  for (int k = 0; k < 3; ++k) o.step({2 * w[0], w[1] * w[0]});
  return w[0] * w[1];
}
}  // namespace pointer_to_vector

namespace grows {
struct Sink {
  std::vector<double>& out;
  void add(double v) { out.push_back(v * v); }
};
double value(double x, double y) {
  std::vector<double> o;
  Sink s{o};
  s.add(x);
  for (int i = 0; i < 3; ++i) s.add(x * i + y);
  double t = 0;
  for (double v : o) t += v * o.size();
  return t;
}
}  // namespace grows

TEST(Parts, Views) {
  EXPECT_DERIVATIVES(view::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(two_views::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(matrix_view::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(early_return::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(made_by_functions::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(in_loops::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_spans::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(iterators::value, 1.3, 0.7);
}
TEST(Parts, Systems) {
  EXPECT_DERIVATIVES(stepper::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(ping_pong::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(nested::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(derived::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(potential::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(captured::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(passed_on::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(counter::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(shared_counter::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(aggregate_base::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(text::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(sparse::value, 1.3, 0.7);
}
TEST(Parts, References) {
  EXPECT_DERIVATIVES(reference::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(accumulator::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(optimizer::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pointer_to_vector::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(grows::value, 1.3, 0.7);
}

// Constructors that are given functions, or objects that hold pointers, and keep none of them.
namespace constructed {
struct Table {
  std::vector<double> v;
  template <class F>
  Table(int n, F f) : v(n) {
    for (int i = 0; i < n; ++i) v[i] = f(i);
  }
};
struct Line : Table {
  double slope;
  explicit Line(double a) : Table(3, [a](int i) { return a * i; }), slope(a) {}
};
struct Three {
  double v[3];
  explicit Three(const std::function<double(int)>& f) {
    for (int i = 0; i < 3; ++i) v[i] = f(i);
  }
};
class Grid {
  int n_;
  std::vector<double> v_;

 public:
  explicit Grid(int n) : n_(n), v_(n) {}
  template <class F>
  Grid(int n, F&& f) : Grid(n) {
    for (int i = 0; i < n_; ++i) v_[i] = f(i / double(n_));
  }
  double sum() const { return std::accumulate(v_.begin(), v_.end(), 0.0); }
};
struct Values {
  const std::vector<double>& v;
  double operator()(int i) const { return v[i] * i; }
};
struct View {
  double* p;
  int n;
  double& operator()(int i) const { return p[i]; }
};
struct Squares {
  std::vector<double> v;
  const int n;
  Squares(View a, double by) : v(a.n), n(a.n) {
    for (int i = 0; i < n; ++i) v[i] = a.p[i] * a.p[i] * by;
    a.p[0] *= by;
  }
};
double value(double x, double y) {
  std::vector<double> v{x, y, x * y};
  const Values values{v};
  Table a(3, [=](int i) { return x * i * y; }), b(3, values);
  const Line line(x * y);
  const Three three([&](int i) { return x + y * i * v[i]; });
  const Grid grid(4, [&](double t) { return std::sin(x * t) * y; }), plain(3, [](double t) { return t; });
  const Squares squares(View{v.data(), 3}, y);
  double sum = a.v[1] * a.v[2] + b.v[1] * b.v[2] + line.v[2] * line.slope + three.v[1] * three.v[2];
  for (int k = 0; k < 2; ++k) sum += Table(2 + k, [&, k](int i) { return sum * x * i + values(k); }).v[1];
  return sum + grid.sum() * plain.sum() + squares.v[1] * squares.v[2] * v[0] * squares.n;
}
}  // namespace constructed

// Lambdas that capture such an object, passed on.
namespace captured_and_passed {
struct View {
  double* p;
  double& operator()(int i) const { return p[i]; }
};
template <class F>
void parallel_for(int n, const F& f) {
  for (int i = 0; i < n; ++i) f(i);
}
void twice(const std::function<void(int)>& f) {
  f(0);
  f(1);
}
struct Field {
  View a;
  double k;
  void scale(int n) {
    parallel_for(n, [this](int i) { a(i) *= k; });
  }
};
double value(double x, double y) {
  double buf[3] = {x, y, x * y};
  View a{buf};
  parallel_for(3, [=](int i) { a(i) *= i * y; });
  const auto add = [&](int i) { a(i) += x * i; };
  parallel_for(2, add);
  parallel_for(3, [add, a](int i) {
    add(i);
    a(0) += a(i);
  });
  twice([a, x](int i) { a(i) += x; });
  Field f{a, x};
  f.scale(2);
  std::for_each(buf, buf + 3, [a](double& v) { v *= a(1); });
  return buf[0] * buf[1] + buf[2];
}
}  // namespace captured_and_passed
TEST(Parts, GivenToConstructors) { EXPECT_DERIVATIVES(constructed::value, 1.3, 0.7); }
TEST(Parts, CapturedAndPassed) { EXPECT_DERIVATIVES(captured_and_passed::value, 1.3, 0.7); }

/// An object that is given its memory later, and ends by way of functions.
class Store {
 public:
  Store() { begin(); }
  ~Store() { clear(); }
  void resize(int count) {
    delete[] cells_;
    cells_ = new double[static_cast<std::size_t>(count)];
    count_ = count;
    for (int i = 0; i < count; ++i) cells_[i] = 0;
  }
  double& operator[](int i) { return cells_[i]; }
  int count() const { return count_; }

 private:
  void begin() { cells_ = nullptr, count_ = 0; }
  void clear() {
    delete[] cells_;
    begin();
  }
  double* cells_;
  int count_;
};
/// A place that is set, and moves.
struct Reader {
  double* from = nullptr;
  double* at = nullptr;
  void set(double* start) {
    from = start;
    at = start;
  }
  void step() { ++at; }
  void rewind() { at = from; }
};
/// Objects that know of each other.
struct Port {
  Port* other = nullptr;
  double a = 0;
  void connect(Port* to) {
    other = to;
    to->other = this;
  }
  void send(double x) { other->a += x * a; }
};

double of_store(double x, double y) {
  Store s;
  s.resize(2);
  s[0] = x;
  s[1] = s[0] * y;
  const double r = s[1];
  s.resize(3);
  s[2] = x * r;
  return s[2] * s.count() + r + s[0] * y;
}
double of_stores(double x, double y) {
  double sum = 0;
  for (int i = 1; i < 4; ++i) {
    Store s;
    s.resize(i);
    s[i - 1] = x * i;
    sum += s[i - 1] * y;
  }
  return sum;
}
double of_readers(double x, double y) {
  double a[3] = {x, x * y, 3}, b[3] = {2 * x, y, x * x};
  Reader r;
  r.set(a);
  r.step();
  double product = *r.at;
  r.set(b);
  for (int i = 0; i < 2; ++i) r.step();
  product *= *r.at;
  r.rewind();
  return product + *r.at;
}
double of_ports(double x, double y) {
  Port p, q;
  p.connect(&q);
  p.a = x;
  q.a = y;
  for (int i = 0; i < 2; ++i) {
    p.send(x);
    q.send(y);
  }
  return p.a * q.other->a * q.a;
}
TEST(Parts, PointersThatAreSetLater) {
  EXPECT_GRADIENT(of_store, 1.3, 0.7);
  EXPECT_GRADIENT(of_stores, 1.3, 0.7);
  EXPECT_GRADIENT(of_readers, 1.3, 0.7);
  EXPECT_GRADIENT(of_ports, 1.3, 0.7);
}

}  // namespace
