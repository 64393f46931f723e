// Functions behind names: pointers to functions and members, std::function, virtual calls.
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double square(double t) { return t * t; }
double cube(double t) { return t * t * t; }
double apply(double (*f)(double), double v) { return f(v) * 2; }
double twice(double (*f)(double), double v) { return apply(f, apply(f, v)); }
double function_pointers(double x, double y) {
  double (*g)(double) = square;
  double (&h)(double) = cube;
  double (*s)(double) = std::sin;
  return g(x) * y + (*g)(y)*h(x) + s(x * y);
}
double passed(double x, double y) {
  return apply(square, x) * y + apply(&cube, y) + twice(square, x) + apply(std::exp, y);
}
double chosen(double x, double y) {
  double (*g)(double) = x > 1 ? square : cube;
  return g(x) * y;
}
double functions(double x, double y) {
  std::function<double(double)> g = [y](double t) { return t * t * y; };
  const std::function<double(double, int)> h = [&](double t, int n) { return n * t * x; };
  std::function<double(double)> s = square;
  return g(x) + g(y) * h(x, 3) + s(y);
}
double integrate(const std::function<double(double)>& f, double from, double to, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += f(from + (i + 0.5) * (to - from) / n);
  return s * (to - from) / n;
}
double newton(std::function<double(double)> f, std::function<double(double)> slope, double x) {
  for (int i = 0; i < 5; ++i) x -= f(x) / slope(x);
  return x;
}
double functionals(double x, double y) {
  const double a = integrate([&](double t) { return t * x * std::sin(y * t); }, 0, y, 4);
  auto f = [x](double t) { return t * t - x; };
  return a * integrate(square, 0, x, 3) + newton(f, [](double t) { return 2 * t; }, y);
}
template <class F>
double derivative(F f, double at) {
  return (f(at + 0.5) - f(at - 0.5));
}
double templates(double x, double y) {
  return derivative(square, x) * derivative([&](double t) { return t * y * t * x; }, y) +
         derivative(&cube, y);
}
auto scaled(double k) {
  return [k](double t) { return k * t; };
}
double returned(double x, double y) {
  auto g = scaled(x);
  return g(y) * y + scaled(y)(x * x);
}

struct Pair {
  double a, b;
  double sum(double k) const { return a * k + b; }
  void add(double k) { a += k * b; }
};
double members(double x, double y) {
  Pair s{x, y};
  double Pair::* m = &Pair::a;
  double (Pair::*f)(double) const = &Pair::sum;
  void (Pair::*g)(double) = &Pair::add;
  s.*m *= s.b;
  (s.*g)(x);
  Pair* p = &s;
  p->*m += x;
  return s.*m * (s.*f)(y) * (p->*f)(x);
}

using Sum = double (Pair::*)(double) const;
double by_reference(Sum sum, const Pair& s, double x) { return (s.*sum)(x); }
double by_address(const Pair* s, Sum sum, double x) { return (s->*sum)(x)*by_reference(sum, *s, x); }
double member_of(const Pair& s, double Pair::* const m, double x) { return s.*m * x; }
void scale(Pair* s, double Pair::* m, void (Pair::*change)(double), double x) {
  s->*m *= x;
  (s->*change)(x);
}
template <class M>
double invoked(M m, const Pair& s, double x) {
  if constexpr (std::is_member_function_pointer_v<M>)
    return std::invoke(m, s, x);
  else
    return std::invoke(m, s) * x;
}
double& picked(Pair& s, double Pair::* m, double by = 0) {
  s.a += by;
  return s.*m;
}
double forwarded(Sum sum, const Pair& s, double x) { return std::invoke(sum, s, x); }
double by_function(std::function<double(const Pair*, double)> f, const Pair& s, double x) { return f(&s, x); }
double if_second(double Pair::* m, const Pair& s) { return m == &Pair::b ? s.*m : s.a * s.a; }
struct Counts {
  int few, many;
};
int count_of(const Counts& c, int Counts::* n) {
  if (c.*n > 0) goto found;  // of what just runs, nothing is differentiated
  return 0;
found:
  return c.*n;
}
double by_default(const Pair& s, double Pair::* m = &Pair::a) { return s.*m * s.b; }
double other_members(double x, double y) {
  Pair s{x, y};
  picked(s, &Pair::a, picked(s, &Pair::b, x)) *= count_of({2, 3}, &Counts::many) * y;
  return forwarded(&Pair::sum, s, x) * by_function(&Pair::sum, s, y) +
         if_second(&Pair::a, s) * if_second(&Pair::b, s) + by_default(s) * by_default(s, &Pair::b);
}
double passed_members(double x, double y) {
  Pair s{x, y};
  const auto b = &Pair::b;
  scale(&s, b, &Pair::add, x);
  picked(s, &Pair::a) += y;
  double z = by_reference(&Pair::sum, s, x) + by_address(&s, &Pair::sum, y);
  z *= member_of(s, &Pair::a, x) + member_of(s, b, y);
  const std::function<double(const Pair&, double)> f = &Pair::sum;
  return z * invoked(&Pair::sum, s, x) + invoked(&Pair::a, s, y) * f(s, x);
}

struct Used {
  double k;
  double by(double x) const& { return k * x * x; }
  double by(double x) && {
    k *= x;
    return k * k;
  }
};
double of_temporaries(double x, double y) {
  Used a{y};
  const double first = a.by(x) * Used{x}.by(y);
  return first + std::move(a).by(x) * a.k;
}

struct Shape {
  virtual ~Shape() = default;
  virtual double area(double s) const = 0;
  virtual void grow(double) {}
};
struct Square : Shape {
  double k;
  explicit Square(double q) : k(q) {}
  double area(double s) const override { return s * s * k; }
  void grow(double by) override { k *= by; }
};
struct Disc : Shape {
  double r = 2;
  double area(double s) const override { return 3.14 * s * r * r; }
};
struct Ring final : Disc {
  double inner;
  Ring(double outer, double i) : inner(i) { r = outer; }
  double area(double s) const override { return Disc::area(s) - 3.14 * s * inner * inner; }
};
double area_of(const Shape& s, double x) { return s.area(x); }
void grow(Shape& s, double by) { s.grow(by * by); }
double shapes(double x, double y) {
  Square a(y);
  Disc b;
  Ring c(x, y * 0.5);
  grow(a, x);
  grow(b, x);
  const Shape* p = &a;
  return area_of(a, x) * y + area_of(b, y) + area_of(c, x * y) * p->area(y);
}
double through(double (Shape::*area)(double) const, const Shape& s, double x) { return (s.*area)(x); }
double pointed_shapes(double x, double y) {
  const Square a(y);
  const Ring b(x, y);
  return through(&Shape::area, a, x) * through(&Shape::area, b, y);
}
double by_pointer(const Shape* s, double x) { return s->area(x) * s->area(x); }
double shape_pointers(double x, double y) {
  Square a(y);
  std::unique_ptr<Shape> p = std::make_unique<Ring>(x, y);
  return by_pointer(&a, x) * p->area(x);
}
double of_object(const Square& s, double x) { return area_of(s, x); }
TEST(Callables, FunctionPointers) {
  EXPECT_GRADIENT(function_pointers, 1.3, 0.7);
  EXPECT_GRADIENT(passed, 1.3, 0.7);
  EXPECT_GRADIENT(chosen, 1.3, 0.7);
  EXPECT_GRADIENT(chosen, 0.3, 0.7);
  EXPECT_GRADIENT(templates, 1.3, 0.7);
}
TEST(Callables, Functions) {
  EXPECT_GRADIENT(functions, 1.3, 0.7);
  EXPECT_GRADIENT(functionals, 1.3, 0.7);
  EXPECT_GRADIENT(returned, 1.3, 0.7);
}
TEST(Callables, PointersToMembers) {
  EXPECT_GRADIENT(members, 1.3, 0.7);
  EXPECT_GRADIENT(passed_members, 1.3, 0.7);
  EXPECT_GRADIENT(other_members, 1.3, 0.7);
  EXPECT_GRADIENT(pointed_shapes, 1.3, 0.7);
}
TEST(Callables, FunctionsOfTemporaries) { EXPECT_GRADIENT(of_temporaries, 1.3, 0.7); }
TEST(Callables, VirtualCalls) {
  EXPECT_GRADIENT(shapes, 1.3, 0.7);
  EXPECT_GRADIENT(shape_pointers, 1.3, 0.7);
  Square s(1.5), d_s(0.0);
  double d_x = 0;
  clad::gradient(of_object).execute(s, 2.0, &d_s, &d_x);
  EXPECT_DOUBLE_EQ(d_s.k, 4.0);
  EXPECT_DOUBLE_EQ(d_x, 6.0);
}

struct Grown {
  double v;
  explicit Grown(double x) : v(x) {
    scale(x);
    v += factor() * x;
  }
  virtual ~Grown() = default;
  virtual double factor() const { return 3; }
  void scale(double by) { v *= by; }
};
struct GrownTwice : Grown {
  double w;
  GrownTwice(double x, double y) : Grown(x), w(y) {
    scale(w);
    v += factor() + this->factor() * Grown::factor();
  }
  double factor() const override { return w * w; }
};
double calls_its_own(double x, double y) {
  GrownTwice g(x, y);
  const Grown& base = g;
  return base.v * base.factor();
}
TEST(Callables, VirtualCallsOfAConstructorAreOfItsClass) { EXPECT_GRADIENT(calls_its_own, 1.3, 0.7); }

struct GrownNoFurther : GrownTwice {
  double z;
  GrownNoFurther(double x, double y) : GrownTwice(x, y), z(x) {}
};
double overridden_in_between(double x, double y) {
  GrownNoFurther g(x, y);
  g.w *= y;
  const Grown& base = g;
  std::unique_ptr<Grown> owned = std::make_unique<GrownNoFurther>(y, x);
  owned->v *= g.z;
  return base.factor() * base.v + owned->factor() * owned->v;
}
TEST(Callables, AClassMayInheritTheOverrider) { EXPECT_GRADIENT(overridden_in_between, 1.3, 0.7); }

struct Layer {
  double gain = 2;
  std::vector<double> v{1, 2};
  virtual ~Layer() = default;
  virtual double forward(double x) const = 0;
  double twice(double x) const { return forward(forward(x)) * gain; }
};
struct Linear : Layer {
  double w, b;
  Linear(double weight, double bias) : w(weight), b(bias) {
    gain *= w;
    v.push_back(b);
  }
  double forward(double x) const override { return gain * (w * x + b) * v[2]; }
};
struct Tanh : Layer {
  double forward(double x) const override { return std::tanh(gain * x) * v[1]; }
};
double abstract_bases(double x, double y) {
  Linear l(x, y);
  Tanh t;
  t.gain = x;
  Layer* net[] = {&l, &t, &l};
  double h = y;
  for (Layer* p : net) h = p->forward(h) + p->twice(h) * p->gain;
  return h;
}
struct Potential {
  double k, c;
  Potential(double scale, double e) : k(scale) {
    double t = k * e;
    scale *= 2;
    for (int i = 0; i < 2; ++i) t *= e;
    c = t + scale;
  }
  virtual ~Potential() = default;
  virtual double energy(double r) const = 0;
};
struct Middle : Potential {
  double m;
  explicit Middle(double a) : Potential(a * a, a), m(a) {}
  virtual double shift() const { return m; }
};
struct Harmonic : Middle {
  double r0;
  Harmonic(double a, double r) : Middle(a), r0(r) { m += k; }
  double energy(double r) const override { return k * (r - r0) * (r - r0) + c * shift(); }
};
double total(const Potential& p, double x) {
  double s = 0;
  for (int i = 1; i < 4; ++i) s += p.energy(x * i);
  return s;
}
double abstract_constructors(double x, double y) {
  Harmonic h(x, y);
  std::unique_ptr<Potential> q = std::make_unique<Harmonic>(y, x);
  return total(h, y) + total(*q, x) + q->energy(y);
}
double chosen_objects(double x, double y) {
  GrownTwice g(x, y);
  Grown h(y);
  const Grown& a = x > 1 ? g : h;
  Grown& b = y > 1 ? h : g;
  const auto area = [&](double k) { return a.factor() * a.v * k; };
  b.v *= a.factor();
  const Grown* p = x > 1 ? &g : &h;
  return area(x) + p->factor() * b.factor() * h.v + g.v;
}
TEST(Callables, AbstractClassesMayHoldData) {
  EXPECT_GRADIENT(abstract_bases, 0.3, 0.7);
  EXPECT_GRADIENT(abstract_constructors, 1.3, 0.7);
}
struct Sized {
  double w;
  explicit Sized(double size) : w(size) {}
  virtual ~Sized() = default;
  virtual double area() const { return w; }
  double weight() const { return w * area(); }
  void grow(double by) { w *= by * area(); }
};
struct Disk : Sized {
  double r;
  Disk(double radius, double size) : Sized(size * 2), r(radius) {}
  double area() const override { return 3.14 * r * r; }
};
double of_one(const Sized& s, double k) { return s.area() * k + s.weight(); }
double of_two(const Sized& s, Sized& t) {
  t.w *= s.area();
  return s.weight() * t.area();
}
double not_sliced(double x, double y) {
  Disk d(x, y);
  Sized s(y);
  const Sized& a = x > 1 ? d : s;
  Sized& b = y > 1 ? s : d;
  double t = a.weight() + of_one(a, x) + of_one(x > 1 ? d : s, y) + a.w;
  b.grow(x);
  t += of_two(a, b) + of_two(y > 1 ? s : d, d);
  const Sized* p = x > 1 ? &d : &s;
  const auto l = [&](double k) { return a.weight() * k; };
  return t + p->weight() * p->w + l(x) + b.w;
}
TEST(Callables, ChosenObjectsKeepTheirClass) {
  EXPECT_GRADIENT(chosen_objects, 1.3, 0.7);
  EXPECT_GRADIENT(chosen_objects, 0.7, 1.3);
  EXPECT_GRADIENT(not_sliced, 0.5, 0.7);
  EXPECT_GRADIENT(not_sliced, 1.1, 0.4);
  EXPECT_GRADIENT(not_sliced, 1.1, 1.2);
}

struct Body {
  virtual ~Body() = default;
  virtual double mass(double t) = 0;
  double twice(double t) { return 2 * mass(t); }
};
struct Rod : Body {
  std::vector<double> parts;
  explicit Rod(std::vector<double> p) : parts(std::move(p)) {}
  double mass(double t) override { return parts[0] * parts[1] * t * t; }
};
struct Rusting : Rod {
  double rust = 1;
  using Rod::Rod;
  double mass(double t) override {
    rust *= t;
    return Rod::mass(t) * rust;
  }
};
struct Welded : Body {  // what cannot be copied has no zero like it
  std::unique_ptr<Body> a, b;
  double mass(double t) override { return t; }
};
double mass_of(Body& b, double t) { return b.mass(t); }
TEST(Callables, AdjointsAreOfTheObjectsClass) {
  Rod rod({2, 3}), d_rod({});
  Rusting rusting({2, 3});
  Welded welded;
  Body* d_body = &d_rod;
  double d_t = 0;
  clad::gradient(mass_of).execute(rod, 5, d_body, &d_t);
  EXPECT_THAT(d_rod.parts, testing::ElementsAre(75, 50));
  EXPECT_EQ(d_t, 60);
  for (Body* b : {static_cast<Body*>(&rod), static_cast<Body*>(&rusting)}) {  // those that nobody gives
    const double order = b == &rod ? 2 : 3, rust = b == &rod ? 1 : rusting.rust;
    d_t = 0;
    clad::gradient(mass_of).execute(*b, 1, nullptr, &d_t);
    EXPECT_EQ(d_t, 6 * rust * order);
    d_t = 0;
    clad::gradient(&Body::twice, "t").execute(*b, 1, &d_t);
    EXPECT_EQ(d_t, 12 * rust * order);
    EXPECT_EQ(clad::differentiate(mass_of, "t").execute(*b, 1), 6 * rust * order);
    EXPECT_EQ(clad::differentiate<2>(mass_of, "t").execute(*b, 1), 6 * rust * order * (order - 1));
    double h = 0;
    clad::hessian(mass_of, "t").execute(*b, 1, &h);
    EXPECT_EQ(h, 6 * rust * order * (order - 1));
  }
  EXPECT_THROW(clad::gradient(mass_of).execute(welded, 1, nullptr, &d_t), std::invalid_argument);
  Rod direction({1, 0});
  d_body = &direction;
  d_t = 0;
  EXPECT_EQ(clad::pushforward(mass_of).execute(rod, 5, d_body, &d_t).pushforward, 75);
}

struct Fit {
  const double* data;
  int n;
  double operator()(double slope, double offset) const {
    double loss = 0;
    for (int i = 0; i < n; ++i) loss += residual(i, slope, offset) * residual(i, slope, offset);
    const double* last = data + n - 1;
    const double& first = data[0];
    return loss * *last * first;
  }
  double residual(int i, double slope, double offset) const { return slope * i + offset - data[i]; }
};
TEST(Callables, MayPointToConstants) {
  const double data[] = {1, 2, 4};
  const Fit fit{data, 3};
  const auto value = [&](double slope, double offset) { return fit(slope, offset); };
  EXPECT_EQ("", clad::test::gradient_error(clad::gradient(fit), value, clad::test::Agreement{}, 1.3, 0.7));
  double d_data[3] = {}, d_slope = 0, d_offset = 0;
  Fit adjoint{d_data, 3};
  clad::gradient(&Fit::operator()).execute(fit, 1.3, 0.7, &adjoint, &d_slope, &d_offset);
  for (int i = 0; i < 3; ++i) {
    const auto of_data = [&](double by) {
      double moved[] = {1, 2, 4};
      moved[i] += by;
      return Fit{moved, 3}(1.3, 0.7);
    };
    EXPECT_NEAR(d_data[i], (of_data(1e-5) - of_data(-1e-5)) / 2e-5, 1e-7) << i;
  }
}

struct Line {
  double slope;
  double operator()(double t) const { return slope * t; }
};
struct Into {
  double& sum;
  void operator()(double t) const { sum += t * t; }
};
struct Overloaded {
  double operator()(double t) const { return t * t; }
  double operator()(int n) const { return 7 * n; }
};
double reduced(const std::vector<double>& v, std::function<double(double, double)> op) {
  double s = v[0];
  for (std::size_t i = 1; i < v.size(); ++i) s = op(s, v[i]);
  return s;
}
double objects_in_functions(double x, double y) {
  Line line{x};
  std::function<double(double)> f = line;
  line.slope = 7;
  double sum = y;
  const std::function<void(double)> into = Into{sum};
  into(x);
  into(x * y);
  const std::function<double(double)> number = Overloaded{};
  const std::function<double(int)> whole = Overloaded{};
  return f(y) * line.slope + sum * number(x) + whole(2) * x;
}
double operations_in_functions(double x, double y) {
  return reduced({x, y, 3}, std::multiplies<double>()) + reduced({x, y, 3}, std::minus<>()) +
         reduced({x, y, 3}, [](auto a, auto b) { return a * a + b; });
}
double negated(double x, double y) {
  const auto small = std::not_fn([](double t) { return t > 1; });
  return (small(x) ? x * y : x * x) + (small(0.5) ? y * y : y);
}
TEST(Callables, ObjectsInStandardFunctions) {
  EXPECT_GRADIENT(objects_in_functions, 1.3, 0.7);
  EXPECT_GRADIENT(operations_in_functions, 1.3, 0.7);
  EXPECT_GRADIENT(negated, 1.3, 0.7);
  EXPECT_GRADIENT(negated, 0.3, 0.7);
}

struct Product {
  double k = 1;
  double operator()(double t) { return k *= t; }
};
double called_twice(std::function<double(double)> f, double t) {
  f(t);
  return f(t);
}
struct Keeps {
  std::function<double(double)> f;
  double run(double t) { return f(t); }
};
double states(double x, double y) {
  Product p;
  std::function<double(double)> f = p;
  f(x);
  p(y);
  const std::function<double(double)> g = f;
  double s = called_twice(f, y) + called_twice(f, 2);
  for (int i = 0; i < 3; ++i) s += f(x);
  Keeps one{Product{}};
  one.run(x);
  Keeps other = one;
  one.run(y);
  return s * p.k + g(2) + one.run(2) + other.run(3);
}
TEST(Callables, EachStandardFunctionHasAStateOfItsOwn) { EXPECT_GRADIENT(states, 1.3, 0.7); }

struct Sides {
  double u, v;
};
double by_value(double x, double y) {
  double a = x;
  const std::function<double(double)> f = [&a](const double& t) {
    a *= 2;
    return t * a;
  };
  Sides p{x, y};
  const std::function<double(Sides)> g = [&p](const Sides& q) {
    p.u = 7;
    return q.u * p.v;
  };
  const std::function<double(Sides)> h = [](Sides&& q) { return q.u *= q.v; };
  return f(a) * a + g(p) * p.u + h(p) * p.u;
}
TEST(Callables, StandardFunctionsTakeCopies) { EXPECT_GRADIENT(by_value, 1.3, 0.7); }

}  // namespace
