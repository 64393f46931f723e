// Objects on the heap that others own: vectors of pointers, trees, factories.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() = default;
};
struct C : Shape {
  double r;
  C(double r) : r(r) {}
  double area() const override { return r * r * 3; }
};
struct S : Shape {
  double a, b;
  S(double a, double b) : a(a), b(b) {}
  double area() const override { return a * b; }
};

namespace pointers {
struct Body {
  double x, v;
};
double kin(const std::vector<Body*>& bs) {
  double e = 0;
  for (const Body* b : bs) e += b->v * b->v;
  return e;
}
double value(double x, double y) {
  Body a{x, y}, b{y, x};
  std::vector<Body*> all{&a, &b};
  for (Body* p : all) p->x += 0.1 * p->v;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      double d = all[i]->x - all[j]->x;
      all[i]->v -= d;
      all[j]->v += d;
    }
  return kin(all);
}
}  // namespace pointers

namespace shapes {
double value(double x, double y) {
  std::vector<std::unique_ptr<Shape>> v;
  v.push_back(std::make_unique<C>(x));
  v.push_back(std::make_unique<S>(x, y));
  double s = 0;
  for (auto& p : v) s += p->area();
  return s * v[0]->area();
}
}  // namespace shapes

namespace shared {
double value(double x, double y) {
  std::vector<std::shared_ptr<Shape>> v{std::make_shared<C>(x), std::make_shared<S>(x, y)};
  double s = 0;
  for (const auto& p : v) s += p->area();
  return s;
}
}  // namespace shared

namespace of_constants {
double value(double x, double y) {
  C c(x);
  S q(x, y);
  std::vector<const Shape*> v{&c, &q};
  double s = 0;
  for (auto p : v) s += p->area();
  return s;
}
}  // namespace of_constants

namespace scene {
struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() = default;
};
struct C : Shape {
  double r;
  C(double r) : r(r) {}
  double area() const override { return r * r * 3; }
};
struct Scene {
  std::vector<std::unique_ptr<Shape>> v;
  void add(std::unique_ptr<Shape> s) { v.push_back(std::move(s)); }
  double total() const {
    double s = 0;
    for (auto& p : v) s += p->area();
    return s;
  }
};
double value(double x, double y) {
  Scene s;
  s.add(std::make_unique<C>(x));
  s.add(std::make_unique<C>(x * y));
  return s.total();
}
}  // namespace scene

namespace parameters {
struct Param {
  double v;
};
struct Opt {
  std::vector<std::shared_ptr<Param>> ps;
  void scale(double k) {
    for (auto& p : ps) p->v *= k;
  }
};
double value(double x, double y) {
  auto a = std::make_shared<Param>(Param{x}), b = std::make_shared<Param>(Param{y});
  Opt o{{a, b}};
  o.scale(x);
  o.ps[1]->v += x;
  return a->v * b->v;
}
}  // namespace parameters

namespace listed {
struct Param {
  double v;
};
struct Opt {
  std::vector<std::shared_ptr<Param>> ps;
  void scale(double k) {
    for (auto& p : ps) p->v *= k;
  }
};
double value(double x, double y) {
  auto a = std::make_shared<Param>(Param{x}), b = std::make_shared<Param>(Param{y});
  Opt o;
  o.ps = {a, b};
  o.scale(x);
  return a->v * b->v;
}
}  // namespace listed

namespace layers {
struct Layer {
  virtual std::vector<double> fwd(const std::vector<double>& v) const = 0;
  virtual ~Layer() = default;
};
struct Lin : Layer {
  std::vector<double> w;
  Lin(std::vector<double> w) : w(std::move(w)) {}
  std::vector<double> fwd(const std::vector<double>& v) const override {
    std::vector<double> o(2);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) o[i] += w[2 * i + j] * v[j];
    return o;
  }
};
struct Tanh : Layer {
  std::vector<double> fwd(const std::vector<double>& v) const override {
    std::vector<double> o = v;
    for (double& a : o) a = std::tanh(a);
    return o;
  }
};
struct Net {
  std::vector<std::unique_ptr<Layer>> layers;
  template <class L, class... A>
  void add(A&&... a) {
    layers.push_back(std::make_unique<L>(std::forward<A>(a)...));
  }
  std::vector<double> run(std::vector<double> v) const {
    for (const auto& l : layers) v = l->fwd(v);
    return v;
  }
};
double value(double x, double y) {
  Net n;
  n.add<Lin>(std::vector<double>{x, y, 0.5, x * y});
  n.add<Tanh>();
  n.add<Lin>(std::vector<double>{y, 1, x, 2});
  auto o = n.run({1, y});
  return o[0] * o[1];
}
}  // namespace layers

// Objects with pointers in an array.
namespace springs {
struct Spring {
  double *a, *b;
  double k;
  double energy() const {
    double d = *a - *b;
    return 0.5 * k * d * d;
  }
};
double value(double x, double y) {
  double p[3] = {x, y, x * y};
  Spring s[2] = {{&p[0], &p[1], 1.0}, {&p[1], &p[2], 2.0}};
  double e = 0;
  for (auto& q : s) e += q.energy();
  for (auto& q : s) q.k *= x;
  for (const Spring& q : s) e += q.energy() * q.k;
  return e;
}
}  // namespace springs

namespace observers {
struct Obs {
  virtual void on(double v) = 0;
  virtual ~Obs() = default;
};
struct Sum : Obs {
  double s = 0;
  void on(double v) override { s += v * v; }
};
struct Prod : Obs {
  double p = 1;
  void on(double v) override { p *= v; }
};
struct Subj {
  std::vector<Obs*> os;
  void add(Obs* o) { os.push_back(o); }
  void fire(double v) {
    for (Obs* o : os) o->on(v);
  }
};
double value(double x, double y) {
  Sum s;
  Prod p;
  Subj j;
  j.add(&s);
  j.add(&p);
  for (int i = 1; i < 4; ++i) j.fire(x * i + y);
  return s.s * p.p;
}
}  // namespace observers

namespace tree {
struct Node {
  double v;
  std::unique_ptr<Node> l, r;
  double sum() const { return v + (l ? l->sum() : 0) + (r ? r->sum() * 2 : 0); }
};
double total(const Node* n, double w) {
  if (!n) return 0;
  return n->v * n->v * w + total(n->l.get(), w * 2) + total(n->r.get(), w * 3);
}
double value(double x, double y) {
  Node n{x};
  n.l = std::make_unique<Node>();
  n.l->v = y;
  n.r = std::make_unique<Node>();
  n.r->v = x * y;
  n.r->l = std::make_unique<Node>(Node{x * x});
  return n.sum() * total(&n, y);
}
}  // namespace tree

namespace children {
struct Node {
  double v;
  std::vector<std::shared_ptr<Node>> kids;
  double sum() const {
    double s = v;
    for (auto& k : kids) s += 2 * k->sum();
    return s;
  }
};
double value(double x, double y) {
  auto a = std::make_shared<Node>();
  a->v = x;
  auto b = std::make_shared<Node>(Node{y, {}});
  a->kids.push_back(b);
  a->kids.push_back(b);
  b->v *= x;
  return a->sum();
}
}  // namespace children

namespace expressions {
struct Expr {
  virtual double eval(double t) const = 0;
  virtual ~Expr() = default;
};
using P = std::unique_ptr<Expr>;
struct Const : Expr {
  double v;
  Const(double v) : v(v) {}
  double eval(double) const override { return v; }
};
struct Add : Expr {
  P a, b;
  Add(P a, P b) : a(std::move(a)), b(std::move(b)) {}
  double eval(double t) const override { return a->eval(t) + b->eval(t); }
};
struct Mul : Expr {
  P a, b;
  Mul(P a, P b) : a(std::move(a)), b(std::move(b)) {}
  double eval(double t) const override { return a->eval(t) * b->eval(t); }
};
double value(double x, double y) {
  P e = std::make_unique<Add>(std::make_unique<Mul>(std::make_unique<Const>(x), std::make_unique<Const>(y)),
                              std::make_unique<Const>(x));
  return e->eval(1) * e->eval(2);
}
}  // namespace expressions

namespace decorators {
struct F {
  virtual double e(double) const = 0;
  virtual ~F() = default;
};
struct Id : F {
  double e(double v) const override { return v; }
};
struct Scale : F {
  std::unique_ptr<F> in;
  double k;
  Scale(std::unique_ptr<F> f, double k) : in(std::move(f)), k(k) {}
  double e(double v) const override { return k * in->e(v); }
};
struct Sh : F {
  const F& in;
  double d;
  Sh(const F& f, double d) : in(f), d(d) {}
  double e(double v) const override { return in.e(v + d); }
};
double value(double x, double y) {
  auto a = std::make_unique<Scale>(std::make_unique<Scale>(std::make_unique<Id>(), x), y);
  Sh s(*a, x * y);
  return s.e(x) * a->e(y);
}
}  // namespace decorators

// A class that owns another of its kind, which may be of its own class, and constant.
namespace corrections {
class Potential {
 public:
  virtual ~Potential() = default;
  double operator()(double r) const { return at(r); }

 private:
  virtual double at(double) const = 0;
};
class Spring : public Potential {
  double k_;
  double at(double r) const override { return k_ * r * r; }

 public:
  explicit Spring(double k) : k_(k) {}
};
class Shifted : public Potential {
  std::unique_ptr<const Potential> of_;
  double by_;
  double at(double r) const override { return (*of_)(r) + by_ * r; }

 public:
  Shifted(std::unique_ptr<const Potential> of, double by) : of_(std::move(of)), by_(by) {}
};
double value(double x, double y) {
  const Shifted twice(std::make_unique<Shifted>(std::make_unique<Spring>(x), y), x * y);
  return twice(2.0) * x;
}
}  // namespace corrections

namespace visitor {
struct Num;
struct Neg;
struct Vis {
  double r = 0;
  void num(const Num&);
  void neg(const Neg&);
};
struct E {
  virtual void acc(Vis&) const = 0;
  virtual ~E() = default;
};
struct Num : E {
  double v;
  Num(double v) : v(v) {}
  void acc(Vis& s) const override { s.num(*this); }
};
struct Neg : E {
  std::unique_ptr<E> e;
  Neg(std::unique_ptr<E> e) : e(std::move(e)) {}
  void acc(Vis& s) const override { s.neg(*this); }
};
inline void Vis::num(const Num& n) { r = n.v * n.v; }
inline void Vis::neg(const Neg& n) {
  n.e->acc(*this);
  r = -r;
}
double value(double x, double y) {
  Neg n(std::make_unique<Neg>(std::make_unique<Num>(x * y)));
  Vis v;
  n.acc(v);
  return v.r * x;
}
}  // namespace visitor

namespace made {
std::unique_ptr<Shape> make(int k, double x, double y) {
  if (k == 0) return std::make_unique<C>(x);
  return std::make_unique<S>(x, y);
}
double value(double x, double y) {
  auto p = make(0, x, y);
  auto q = make(1, x, y);
  return p->area() * q->area();
}
}  // namespace made

namespace made_in_a_loop {
struct C {
  double r;
  C(double r) : r(r) {}
  double a() const { return r * r; }
};
struct V {
  const double* p;
  int n;
  double g(double t) const {
    for (int i = 0; i < n; ++i) {
      auto c = std::make_unique<C>(p[i] * t);
      if (c->a() > 1) return c->a() * c->r;
    }
    return t;
  }
};
double value(double x, double y) {
  double a[3] = {x * 0.2, y, x};
  V v{a, 3};
  return v.g(x) * v.g(y);
}
}  // namespace made_in_a_loop

namespace by_name {
struct A {
  virtual double g(double) const = 0;
  virtual ~A() = default;
};
struct R : A {
  double g(double v) const override { return v > 0 ? v : 0.1 * v; }
};
struct T : A {
  double s;
  T(double s) : s(s) {}
  double g(double v) const override { return std::tanh(v * s); }
};
std::unique_ptr<A> make(const std::string& n, double s) {
  if (n == "relu") return std::make_unique<R>();
  if (n == "tanh") return std::make_unique<T>(s);
  return nullptr;
}
double value(double x, double y) {
  auto a = make("relu", x), b = make("tanh", y);
  return a->g(x) * b->g(y) + b->g(x);
}
}  // namespace by_name

namespace cloned {
struct Shape {
  virtual double area() const = 0;
  virtual std::unique_ptr<Shape> clone() const = 0;
  virtual ~Shape() = default;
};
struct C : Shape {
  double r;
  C(double r) : r(r) {}
  double area() const override { return r * r; }
  std::unique_ptr<Shape> clone() const override { return std::make_unique<C>(*this); }
};
double value(double x, double y) {
  std::unique_ptr<Shape> a = std::make_unique<C>(x * y);
  auto b = a->clone();
  return a->area() * b->area();
}
}  // namespace cloned

namespace member {
struct W {
  std::unique_ptr<C> c;
  double k;
  double get() const { return c->area() * k; }
};
double value(double x, double y) {
  W w{std::make_unique<C>(x), y};
  return w.get();
}
}  // namespace member

TEST(Owned, Containers) {
  EXPECT_DERIVATIVES(pointers::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(shapes::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(shared::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_constants::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(scene::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(parameters::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(listed::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(layers::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(springs::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(observers::value, 1.3, 0.7);
}
TEST(Owned, Structures) {
  EXPECT_DERIVATIVES(tree::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(children::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(expressions::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(decorators::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(corrections::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(visitor::value, 1.3, 0.7);
}
TEST(Owned, Factories) {
  EXPECT_DERIVATIVES(made::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(made_in_a_loop::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_name::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(cloned::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(member::value, 1.3, 0.7);
}

}  // namespace
