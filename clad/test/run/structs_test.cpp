// Classes: nested, private members, methods, constructors, inheritance.
#include <array>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Point {
  double x, y;
  template <class V>
  void reals(V&& v) {
    v(x), v(y);
  }
};
struct Segment {
  Point a, b;
  int id;
  double weights[2];
  template <class V>
  void reals(V&& v) {
    a.reals(v), b.reals(v), v(weights[0]), v(weights[1]);
  }
};
double by_value(Segment s, double k) {
  s.a.x *= k;
  Point p = s.a;
  p.y += s.b.x * s.weights[1];
  s.b = p;
  Segment t = s;
  t.a = t.b;
  t.weights[0] = p.x * t.a.y;
  return t.a.x * t.b.y * t.weights[0] * t.id + s.a.y;
}
double by_const_reference(const Segment& s) {
  const Point& p = s.a;
  const double* w = s.weights;
  return p.x * s.b.y * w[1] + w[0] * p.y;
}
TEST(Structs, NestedStructsByValueAndByReference) {
  Segment s{{1.1, 2}, {0.5, 0.3}, 2, {0.7, 0.9}};
  EXPECT_GRADIENT(by_value, s, 0.7);
  EXPECT_GRADIENT(by_const_reference, s);
}

Point rotate(const Point& p, double k) { return {p.x * k - p.y, p.y * k + p.x}; }
double returned(Point p) {
  Point q = rotate(p, p.x);
  q = rotate(q, 2);
  Point r = Point{q.y, q.x * p.y};
  return rotate(r, 0.5).x * rotate(rotate(q, r.x), r.y).y;
}
TEST(Structs, ReturnedFromFunctions) { EXPECT_GRADIENT(returned, Point{0.7, 1.2}); }

class Account {
 public:
  Account(double start, double rate) : balance_(start), rate_(rate) {}
  explicit Account(double start) : Account(start, 0.5) { balance_ += rate_; }
  void step(double deposit) {
    balance_ += deposit;
    balance_ *= 1 + rate_;
    if (balance_ > 4) rate_ *= 0.9;
    ++steps_;
  }
  double& rate() { return rate_; }
  double balance() const { return balance_ * steps_; }
  double total(const Account& other) const { return other.balance_ * rate_ + balance_; }
  template <class V>
  void reals(V&& v) {
    v(balance_), v(rate_);
  }

 private:
  double balance_;
  double rate_;
  int steps_ = 1;
};
double private_members(double x) {
  Account a(x, 0.1), b(x * x);
  for (int i = 0; i < 3; ++i) {
    a.step(b.balance() * 0.1);
    b.step(a.total(b));
    b.rate() *= x;
  }
  return a.balance() * b.total(a);
}
TEST(Structs, PrivateMembersAndMethodsThatChangeThem) { EXPECT_GRADIENT(private_members, 0.8); }

double changed_by_reference(Account& a, double x) {
  a.step(x);
  a.rate() += x;
  return a.balance() * a.rate();
}
TEST(Structs, AnObjectPassedByReference) {
  EXPECT_GRADIENT_IN_PLACE(changed_by_reference, Account(1.5, 0.2), 0.7);
}
TEST(Structs, GradientsOfMemberFunctions) {
  EXPECT_METHOD_GRADIENT(&Account::total, Account(1.5, 0.2), Account(0.5, 0.3));
  EXPECT_METHOD_GRADIENT(&Account::balance, Account(1.5, 0.2));
}

struct Delegating {
  double x, y;
  double k = 3;
  Delegating(double a) : Delegating(a, a * a) { k *= x; }
  Delegating(double a, double b) : x(a * b), y(b) { y += x; }
};
struct Owner {
  Delegating inner;
  double scale = 2;
  double table[2] = {1, 2};
  Owner(double a) : inner(a), table{a, inner.k} { scale *= a; }
  double sum() const { return inner.x * inner.k + inner.y * scale * table[0] * table[1]; }
};
double constructors(double x) {
  double total = 0;
  for (int i = 0; i < 3; ++i) {
    Owner o(x + i);
    total += o.sum() * total * 0.01 + o.inner.k;
  }
  return total * Delegating(x).x * Delegating{x, 2 * x}.y + Owner(x).sum();
}
TEST(Structs, ConstructorsDelegateAndInitializeMembers) { EXPECT_GRADIENT(constructors, 0.7); }

struct Base {
  double a;
  double b = 2;
  Base(double x) : a(x) {}
  double get() const { return a * b; }
  void set(double v) { a = v; }
};
struct Derived : Base {
  double c;
  Derived(double x) : Base(x * x), c(x) { b *= x; }
  double get() const { return c * Base::get() + a; }
};
double get_base(const Base& b) { return b.get() * b.a; }
double inheritance(double x) {
  Derived d(x);
  d.set(d.c * d.get());
  Base& b = d;
  b.a *= d.c;
  Base copy = d;
  copy.b *= x;
  return d.get() * d.a + get_base(d) + copy.get() + b.get();
}
TEST(Structs, BasesTheirConstructorsAndMethods) { EXPECT_GRADIENT(inheritance, 1.2); }

struct Shape {
  virtual ~Shape() = default;
  virtual double area(double x) const { return x; }
};
struct Square final : Shape {
  double k = 2;
  double area(double x) const override { return x * x * k; }
};
double known_class(double x) {
  Square s;
  s.k *= x;
  return s.area(x);
}
TEST(Structs, VirtualMethodsOfAnObjectWhoseClassIsKnown) { EXPECT_GRADIENT(known_class, 1.5); }

struct Functor {
  double k;
  double operator()(double x) const { return k * x * x; }
};
TEST(Structs, FunctionObjects) {
  Functor f{2};
  EXPECT_GRADIENT(f, 1.5);
}

double local_class(double x) {
  struct Local {
    double q;
    double twice() const { return q * 2; }
  };
  Local l{x};
  l.q *= l.twice();
  return l.q * x;
}
template <class T>
T local_function_of(T v, T k) {
  struct Local {
    static T product(T a, T b) { return a * b; }
  };
  T s = Local::product(v, k);
  return s * Local::product(s, v);
}
double local_functions(double x, double y) {
  struct Local {
    double k;
    static double square(double v) { return v * v; }
    double operator()(double v) const { return square(v) * k; }
  };
  struct Nested {
    struct Inner {
      static double cube(double v) { return v * v * v; }
    };
  };
  const double s = Local::square(x);
  return s * s * y + Local{y}(x)*Nested::Inner::cube(y) + local_function_of(x, y);
}
TEST(Structs, LocalClasses) {
  EXPECT_GRADIENT(local_class, 1.3);
  EXPECT_GRADIENT(local_functions, 1.3, 0.7);
}

struct Matrix2 {
  double v[2][2];
  double trace() const { return v[0][0] + v[1][1]; }
};
double array_members(double x) {
  Matrix2 m{{{x, 1}, {2, x}}};
  Matrix2 n = m;
  n.v[0][1] += m.v[1][1];
  m = n;
  for (auto& row : m.v)
    for (double& e : row) e *= x;
  return m.trace() * n.v[0][1] * m.v[0][1];
}
TEST(Structs, ArrayMembersAreCopiedWithTheStruct) { EXPECT_GRADIENT(array_members, 1.3); }

struct Left {
  double x = 1;
};
struct Right {
  double x = 2;
  double y = 3;
};
struct Both : Left, Right {
  double z = 4;
  double product() const { return Left::x * Right::x * y + z * z; }
  template <class V>
  void reals(V&& v) {
    v(Left::x), v(Right::x), v(y), v(z);
  }
};
double several_bases(Both c, double t) {
  c.Left::x *= t;
  Right& r = c;
  r.x += t * c.y;
  return c.product();
}
TEST(Structs, SeveralBasesWithMembersOfOneName) { EXPECT_GRADIENT(several_bases, Both{}, 1.5); }

struct Hiding : Base {
  double a;
  Hiding(double x) : Base(x * x), a(x) { b *= x; }
  double get() const { return a * Base::get() + Base::a; }
  template <class V>
  void reals(V&& v) {
    v(Base::a), v(b), v(a);
  }
};
double hidden_members(Hiding h, double x) {
  h.a *= x;
  h.Base::a = h.a * h.b;
  h.set(h.a * h.get());
  return h.get() + static_cast<Base&>(h).get() * x + h.Base::get();
}
TEST(Structs, HiddenMembersOfABase) { EXPECT_GRADIENT(hidden_members, Hiding(1.3), 0.7); }

struct Circle : Shape {
  double area(double x) const override { return x * x; }
};
double sliced(Shape s, double x) { return s.area(x); }
double qualified(double x) {
  Circle c;
  return sliced(c, x) * c.area(x) + c.Shape::area(x) * x;
}
TEST(Structs, SlicingAndQualifiedCallsOfVirtualMethods) { EXPECT_GRADIENT(qualified, 1.5); }

struct Early {
  double x;
  Early(double a) {
    x = a;
    if (a > 2) return;
    x *= a;
    for (int i = 0; i < 2; ++i) {
      x += a;
      if (x > 5) return;
    }
  }
};
double early(double a) {
  Early e(a);
  return e.x * a;
}
TEST(Structs, ConstructorsThatReturnEarly) {
  EXPECT_GRADIENT(early, 1.2);
  EXPECT_GRADIENT(early, 2.2);
  EXPECT_GRADIENT(early, 1.9);
}

struct Doubling {
  Doubling(double& x) { x *= 2; }
};
struct Squaring {
  double v;
  Squaring(double& x) : v(x * x) { x *= v; }
};
double constructor_effects(double y) {
  double z = y * y;
  Doubling d(z);
  Squaring s(z), t(z);
  return z * y * s.v * t.v;
}
TEST(Structs, ConstructorsThatChangeTheirArgument) { EXPECT_GRADIENT(constructor_effects, 0.6); }

enum Plain { kNone, kThree = 3 };
struct Bits {
  unsigned f : 3;
  unsigned : 5;
  int g : 4;
  double v;
};
double bit_fields(double x, Plain e) {
  Bits s{5, 2, x};
  s.f += 2;
  Bits t = s;
  t.v *= t.f + t.g;
  return t.v * (e == kThree ? 2 : 3) * kThree;
}
TEST(Structs, BitFieldsAndEnumerators) { EXPECT_GRADIENT(bit_fields, 1.2, kThree); }

struct Nested {
  Point p;
  double z[2];
};
double partial_lists(double x) {
  Nested a{{x, 1}, {x, 2}}, b{.p = {.y = x}}, c{{x}, {x}};
  Point e = {};
  Point m[2] = {{x, 1}};
  return a.p.x * a.z[0] * a.z[1] + b.p.y * a.p.y + b.p.x * x + b.z[1] * x + c.p.x * c.p.y + c.z[0] * c.z[1] +
         c.z[0] + e.x * x + m[0].x * m[1].x + m[0].x;
}
TEST(Structs, PartialAndDesignatedInitializers) { EXPECT_GRADIENT(partial_lists, 1.2); }

struct OfValue {
  double v;
  OfValue(double x) : v(x) {}
};
struct Around {
  double x;
  OfValue inner;
};
double without_default(double x) {
  OfValue c = OfValue(2 * x);
  const Around u{x, c};
  Around w = u;
  w.inner.v *= w.x * u.inner.v;
  auto [a, b] = w;
  b.v *= a;
  auto change = [c](double y) mutable {
    c.v *= y;
    return c.v;
  };
  return w.inner.v * u.x * b.v * change(x) * change(a);
}
TEST(Structs, AroundMembersWithoutDefaultConstructor) { EXPECT_GRADIENT(without_default, 0.7); }

template <class Derived>
struct Figure {  // without data of its own
  double twice() const { return 2 * static_cast<const Derived*>(this)->area(); }
};
struct Tile : Figure<Tile> {
  double side;
  explicit Tile(double s) : side(s) {}
  double area() const { return side * side; }
};
double made_for_its_derived_class(double x, double y) { return Tile(x * y).twice() * Tile(y).twice(); }
TEST(Structs, ABaseMadeForTheClassDerivedFromIt) { EXPECT_GRADIENT(made_for_its_derived_class, 1.3, 0.7); }

struct Heir;
struct Empty {
  double square() const;
  void grow(double by);
};
struct Heir : Empty {
  double v;
};
double Empty::square() const {
  const auto& s = static_cast<const Heir&>(*this);
  return s.v * s.v;
}
void Empty::grow(double by) {
  auto& s = static_cast<Heir&>(*this);
  for (int i = 0; i < 2; ++i) s.v *= s.v + by;
}
const Heir& same(const Heir& h) { return h; }
void set(Empty& e, double to) { static_cast<Heir&>(e).v = to * to; }
void raise(Empty* e, double by) { static_cast<Heir*>(e)->v *= by; }
double raised(const Empty* e) {
  const auto* h = static_cast<const Heir*>(e);
  return h->v * h->v;
}
double cast_down_from_nothing(double x, double y) {
  Heir a, b;
  a.v = x;
  b.v = 1;
  set(b, x * y);
  b.grow(y);
  raise(&b, x);
  return same(a).square() * y + b.v * raised(&b);
}
TEST(Structs, ABaseWithoutDataIsCastDown) { EXPECT_DERIVATIVES(cast_down_from_nothing, 1.3, 0.7); }

struct Scaled {
  double a;
  Scaled(double x, const std::vector<double>& by) : a(x * by[0]) {}
  Scaled(double& x, double y = 2) : a(x * y) { x *= a; }
};
struct Passing : Scaled {
  using Scaled::Scaled;
};
struct Inheriting : Passing {
  using Passing::Passing;
  double k = 3;
  double value() const { return a * a * k; }
};
double inherited_constructors(double x, double y) {
  Inheriting a(x, {y, x}), b(x), c(x, y);
  return a.value() * b.value() * x + c.value() * y;
}
TEST(Structs, InheritedConstructors) { EXPECT_GRADIENT(inherited_constructors, 1.3, 0.7); }

// Objects that do not start as zeros, whose adjoints and tangents do.
struct Two {
  double a = 1, b = 2;
};
struct Made {
  double a, b;
  Made() : a(3), b(4) {}
  Made(double a) : a(a), b(2) {}
};
struct WithArray {
  double c[3] = {1, 0, 0};
  Two two[2] = {{3, 4}};
};
struct WithVector {
  std::vector<double> v{1, 2};
  double b = 3;
};
double started_arrays(double x, double y) {
  Two one[1], grid[2][2], listed[3] = {{x, y}, {}};
  one[0].b *= x;
  grid[1][0].a = y;
  grid[1][1].b *= x;
  Made made[3] = {x};
  made[2].b *= y;
  WithArray w[2];
  w[0].c[2] = x;
  w[1].two[1].a *= y;
  WithVector v[2];
  v[0].v[1] *= x;
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    Two each[2];
    each[i].a *= x;
    sum += each[0].a * each[1].b * one[0].b;
  }
  return sum * grid[1][0].a * grid[1][1].b * grid[0][0].a + listed[0].a * listed[1].b * listed[2].a * x +
         made[0].a * made[1].b * made[2].b + w[0].c[0] * w[0].c[2] * w[1].two[1].a * w[1].two[0].b +
         v[0].v[1] * v[1].v[0] * v[1].b * y;
}
double of_two(const Two (&t)[2]) { return t[0].a * t[1].b; }
double started_arguments(double x, double y) {
  struct {
    Two t[2];
  } s;
  s.t[0].b = y;
  s.t[1].a = x;
  const Two swapped[2] = {s.t[1], s.t[0]};
  return of_two(s.t) * x + of_two(swapped) * y;
}
double started_elements(double x, double y) {
  std::array<Two, 3> a{{{x}, {x, y}}};
  std::vector<Two> v(2, Two{x}), w{{y}};
  v.resize(4);
  w.resize(3);
  w[2].b *= x;
  v[3].a *= y;
  return a[0].a * a[1].b * a[2].b + v[0].a * v[1].b * v[2].b * v[3].a + w[0].b * w[1].a * w[2].b * y;
}
double started_twice(double x, double y) {  // 16 x y y
  std::vector<Two> v(2, Two{x});
  v.resize(3);
  std::array<Two, 2> a{{{y}}};
  Two c[2] = {{x}};
  c[1].a *= y;
  return v[0].a * v[1].b * v[2].b * a[0].a * a[1].b * c[1].a * c[0].b;
}
TEST(Structs, ElementsThatStartWithNumbers) {
  EXPECT_GRADIENT(started_arrays, 1.3, 0.7);
  EXPECT_GRADIENT(started_arguments, 1.3, 0.7);
  EXPECT_GRADIENT(started_elements, 1.3, 0.7);
  double h[4];
  clad::hessian(started_twice).execute(1.5, 2, h);
  EXPECT_EQ((std::vector<double>{0, 64, 64, 48}), std::vector<double>(h, h + 4));
}

struct WithMembers {
  Made m[2][2];
  double c[2][2] = {{1, 2}, {3}};
  Two t[3] = {{4}, {5, 6}};
  WithMembers(double q) : c{{q}, {q, 2}} {}
  WithMembers() { t[2].b *= 2; }
};
double made_in_constructors(double x, double y) {
  WithMembers one(x), other;
  one.m[0][1].b *= y;
  other.m[1][0].a *= x;
  other.t[1].a *= y;
  return one.c[0][0] * one.c[1][1] * one.m[0][1].b * one.m[1][1].a * one.t[0].b + one.c[0][1] +
         other.c[1][0] * other.m[1][0].a * other.m[0][0].b * other.t[1].a * other.t[2].b + other.c[1][1];
}
TEST(Structs, ArrayMembersMadeInAConstructor) { EXPECT_GRADIENT(made_in_constructors, 1.3, 0.7); }

struct Emptied {
  double k;
  int n = 2;
  explicit Emptied(double value) : k(value) {}
  Emptied(const Emptied&) = default;
  Emptied& operator=(const Emptied&) = default;
  Emptied(Emptied&& o) noexcept : k(std::exchange(o.k, 0)), n(o.n) {}
  Emptied& operator=(Emptied&& o) noexcept {
    k = std::exchange(o.k, 0);
    n = std::exchange(o.n, 0);
    return *this;
  }
};
double moved(double x, double y) {
  Emptied a(x), b(y);
  a = std::move(b);
  b = Emptied(x * y);
  Emptied c(std::move(a));
  return c.k * b.k * c.n + b.k + a.k * x;
}
struct Builder {
  double sum = 0;
  Builder& add(double v) & {
    sum += v;
    return *this;
  }
  Builder&& add(double v) && {
    sum += v * 2;
    return std::move(*this);
  }
  double get() const { return sum; }
};
double built(double x, double y) {
  Builder b;
  b.add(x).add(y);
  return Builder().add(x).add(x * y).get() * Builder{y}.add(b.sum).sum;
}
TEST(Structs, MovedFromObjects) {
  EXPECT_GRADIENT(moved, 1.3, 0.7);
  EXPECT_GRADIENT(built, 1.3, 0.7);
}

// Members that are const: nobody assigns to them, but their adjoints are numbers like others.
struct Spring {
  const double k;
  explicit Spring(double stiffness) : k(stiffness) {}
  double force(double v) const { return k * v; }
};
struct Settings {
  const double a;
  const double w[2];
  double b;
  double get() const { return a * b * w[1] + w[0]; }
};
class Filter {
  const double k_;
  const int n_;
  std::vector<double> kept_;
  const Spring spring_;

 public:
  Filter(double k, int n) : k_(k), n_(n), kept_(n, k), spring_(k * k) {}
  double step(double v) {
    for (auto& e : kept_) e = e * k_ + spring_.force(v);
    return kept_[n_ - 1];
  }
};
double const_members(double x, double y) {
  const Spring spring(x);
  Settings s{x, {y, x * y}, 2};
  s.b *= s.a;
  const Settings t = s;
  std::vector<Settings> all{s, t};
  all.push_back({y, {1, x}, y});
  Filter f(x * 0.5, 3);
  std::pair<const double, double> p(x, y);
  p.second *= p.first;
  double sum = spring.force(y) * spring.k + t.get() + f.step(y) * f.step(x) + p.second;
  for (Settings& one : all) {
    one.b *= y;
    sum += one.get();
  }
  return sum;
}
// Made without arguments: its constant is in the class.
struct HalfConstant {
  const double k = 2;
  double v = 1;
};
double made_without_arguments(double x, double y) {
  HalfConstant s;
  s.v = x;
  for (int i = 0; i < 2; ++i) {
    HalfConstant t;
    t.v *= s.v * y;
    s.v += t.v * t.k;
  }
  return s.v * s.k;
}
TEST(Structs, ConstMembers) {
  EXPECT_GRADIENT(const_members, 1.3, 0.7);
  EXPECT_DERIVATIVES(made_without_arguments, 1.3, 0.7);
}

class Layout {
 public:
  Layout() = default;
  double cells[2]{};

 private:
  Layout(Layout&);  // copies are not meant
};
struct Matrix {
  Layout layout;
  Matrix() = default;
  Matrix(const Matrix& other) { copy(other); }
  Matrix& operator=(const Matrix& other) {
    copy(other);
    return *this;
  }
  void copy(const Matrix& other) {
    for (int i = 0; i < 2; ++i) layout.cells[i] = other.layout.cells[i];
  }
};
double of_copies(double x, double y) {
  Matrix a;
  a.layout.cells[0] = x * y;
  const Matrix b(a);
  Matrix c;
  a.layout.cells[0] = x;
  c = a;
  c.layout.cells[1] = y;
  return b.layout.cells[0] * x + c.layout.cells[0] * c.layout.cells[1];
}
TEST(Structs, CopiedWhereMembersCannotBe) { EXPECT_REVERSE_GRADIENT(of_copies, 1.3, 0.7); }

}  // namespace
