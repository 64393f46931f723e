// One of several objects, chosen at run time: a reference to it sees what becomes of it.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <valarray>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct P {
  double a, b;
  double used_for(double& r) const {
    r *= 1.5 * b;
    return a * a;
  }
  double times(double k) const { return a * k; }
  P& scale(double k) {
    a *= k;
    return *this;
  }
  const double& after(double& r) const {
    r *= 2;
    return a;
  }
  bool operator<(const P& o) const { return a < o.a; }
  P& operator+=(const P& o) {
    a += o.b;
    b += o.a;
    return *this;
  }
};

#define EXPECT_BOTH(f)          \
  EXPECT_GRADIENT(f, 1.3, 0.7); \
  EXPECT_GRADIENT(f, 0.7, 1.9)

double uses(const double& e, double& r) {
  r = r * 3 + e;
  if (r > 2 * e) r *= e;
  return e * r;
}
double passes_a_choice(double x, double y) {
  double c = x * y, b = 5 * x - 4;
  const double s = uses(b < c ? b : c, c);
  return s + uses(x > 1 ? c : b, b) * c;
}
double passes_the_least(double x, double y) {
  double c = x * y;
  double s = uses(std::min<double>(5 * x - 4, c), c);
  s += uses(std::max(c, y), c) + uses(std::clamp(c, 0.1 * x, 3.), c);
  std::vector<double> v{x, c};
  return s + c * uses(std::min(v[0], v[1]), v[1]) * v[1];
}
double passes_a_copy(double x, double y) {
  double c = x * y;
  return uses(x > 1 ? c : 2 * x, c) * c;
}
TEST(Choices, AreArgumentsBesideWhatTheCallChanges) {
  EXPECT_BOTH(passes_a_choice);
  EXPECT_BOTH(passes_the_least);
  EXPECT_BOTH(passes_a_copy);
}

double of_objects(const P& e, const P& k, P& r) {
  r.a *= 3;
  r.b += e.a * k.b;
  return e.a * k.b;
}
double passes_objects(double x, double y) {
  P p{x, y}, q{y, 2};
  double s = of_objects(x > 1 ? p : q, y > 1 ? q : p, p);
  s += of_objects(std::max(p, q), std::min(P{5 * x, y}, q), x > 1 ? q : p);
  p += std::max(p, q);
  (x > 1 ? p : q) += y > 1 ? p : q;
  return s * p.a + q.b;
}
double of_vectors(const std::vector<double>& v, std::vector<double>& w) {
  double s = 0;
  for (const double& e : v.size() > w.size() ? v : w) {
    w[0] += e;
    s += e * e;
  }
  return s;
}
double passes_vectors(double x, double y) {
  std::vector<double> v{x, y, 2}, w{y, x};
  return of_vectors(v, w) * w[0] + of_vectors(w, v) * v[0] + of_vectors(x > 1 ? v : w, w);
}
double calls_of_one(double x, double y) {
  P p{x, y}, q{y, x * y};
  P& c = x > 1 ? p : q;
  c.a += c.used_for(p.a);
  const P* d = y > 1 ? &p : &q;
  const double s = d->times(q.a *= x) + (x > 1 ? q : p).used_for(q.a);
  return s * c.times(p.a = x * y) * p.a * q.a;
}
P& grows(P& p, const P& q) {
  p.a *= q.b;
  return p;
}
double chained_calls(double x, double y) {
  P p[2]{{x, y}, {y, x * y}}, q{x * y, y};
  int i = 0;
  P& c = x > 1 ? p[i] : q;
  c.scale(x).scale(c.b).a *= y;
  (x > 1 ? p[i++] : q).scale(y).scale(p[i].a);
  P& d = grows(c, p[0]);
  const double& e = d.after(p[0].a);
  d.a *= d.b;
  return p[0].a * p[1].a * q.a * e;
}
TEST(Choices, AreObjects) {
  EXPECT_BOTH(passes_objects);
  EXPECT_BOTH(passes_vectors);
  EXPECT_BOTH(calls_of_one);
  EXPECT_BOTH(chained_calls);
}

double names_the_least(double x, double y) {
  double c = x * y, b = 2 * x;
  const double& m = std::min(b, c);
  double& n = const_cast<double&>(std::max(c, y));
  c *= 2;
  n += m * m;
  const double* p = &std::min(c, y);
  const double* q = &(x > 1 ? c : b);
  c *= 3;
  return c * x + m * *p * *q * y;
}
double copies_one(double x, double y) {
  double c = x * y;
  const double& m = x > 100 ? 5 * x : c;
  c *= 2;
  return c * m;
}
const double& pick(const double& a, const double& b) { return std::max(a, b); }
double returns_one(double x, double y) {
  double a = x, b = y;
  const double& m = pick(a, b);
  a *= b;
  b += m;
  return m * a * b;
}
struct Pair {
  double v[2];
  const double& low() const { return std::min(v[0], v[1]); }
};
double returns_a_member(double x, double y) {
  Pair p{{x, y}};
  const double& l = p.low();
  p.v[0] *= 3;
  p.v[1] += l * x;
  return p.v[0] * p.v[1] * l;
}
double of_part(double x, double y) {
  P p{x, y}, q{y, 2};
  const double& r = (x > 1 ? p : q).a;
  const double& s = std::max(p, q).b;
  p.a *= 2;
  p.b *= 3;
  q.b *= 5;
  return r * s;
}
TEST(Choices, AreNamedByReferencesAndPointers) {
  EXPECT_BOTH(names_the_least);
  EXPECT_BOTH(copies_one);
  EXPECT_BOTH(returns_one);
  EXPECT_BOTH(returns_a_member);
  EXPECT_BOTH(of_part);
}

double walks_one(double x, double y) {
  std::vector<double> v{x, y}, w{y, x * x, 2};
  double s = 0;
  for (const double& e : x > 1 ? v : w) {
    v[1] *= e;
    s += e * v[1];
  }
  for (double& e : y > 1 ? v : w) {
    e *= x;
    s += e * w[1];
  }
  for (double e : x > 1 ? v : w) {
    w[1] *= e;
    s += e * w[1];
  }
  return s * w[2] + v[0];
}
double walks_rows(double x, double y) {
  double v[2] = {x, y}, w[2] = {y, x * x};
  double s = 0;
  for (int k = 0; k < 2; ++k)
    for (auto& e : k ? v : w) {
      e *= x;
      s += e * w[1];
    }
  return s * w[0] + v[0];
}
double walks_objects(double x, double y) {
  std::vector<P> v{{x, y}, {y, 2}}, w{{x * x, x}};
  double s = 0;
  for (auto& [a, b] : x > 1 ? w : v) {
    a *= b;
    s += a;
    b += x;
  }
  for (const P& p : v) s *= p.a * p.b;
  return s + w[0].b;
}
TEST(Choices, AreRangesOfLoops) {
  EXPECT_BOTH(walks_one);
  EXPECT_BOTH(walks_rows);
  EXPECT_BOTH(walks_objects);
}

double binds_one(double x, double y) {
  P p{x, y}, q{y, 2};
  auto& [a, b] = x > 1 ? p : q;
  a *= b;
  b += x;
  const auto& [c, d] = y > 1 ? p : q;
  auto [e, g] = x > 1 ? p : q;
  q.a *= 2;
  return a * b + p.a * c + d * q.a + e * g;
}
double binds_temporaries(double x, double y) {
  P p{x, y};
  const auto& [a, b] = P{x, x * y};
  p.a *= 2;
  const auto& [c, d] = std::make_pair(p.a * y, y);
  auto&& [e, g] = std::tuple<double, double>(c, b);
  e *= 2;
  const auto& [h, i] = x > 100 ? P{x, y} : p;
  p.b *= x;
  return a * b * p.a * c * d * e * g * h * i;
}
TEST(Choices, AreBound) {
  EXPECT_BOTH(binds_one);
  EXPECT_BOTH(binds_temporaries);
}

double walks_with_iterators(double x, double y) {
  std::vector<double> a{x, y}, b{y, x, 2};
  auto& v = x > 1 ? a : b;
  double s = 0;
  for (auto it = v.begin(); it != v.end(); ++it) {
    *it *= y;
    s += *it * x;
  }
  std::sort(v.begin(), v.end());
  for (auto it = v.rbegin(); it != v.rend(); ++it) s *= *it;
  return s * b[0] + std::accumulate((y > 1 ? a : b).begin(), (y > 1 ? a : b).end(), y) * a[1];
}
double changes_a_vector(double x, double y) {
  std::vector<double> a{x, y}, b{y, x, 2};
  auto& v = x > 1 ? a : b;
  v.at(0) *= x;
  v.front() += y;
  v.back() *= v.front();
  v.data()[1] *= 3;
  v.insert(v.begin() + 1, x * y);
  v.push_back(v[0]);
  std::fill((y > 1 ? a : b).begin(), (y > 1 ? a : b).begin() + 1, x * x);
  return a[0] * a[1] * b[0] * b[1] * v.back();
}
struct Row {
  double w[3];
  double k;
};
double times(double* p, const double* q) {
  p[0] *= q[1];
  return p[0] * q[0];
}
double changes_an_array(double x, double y) {
  Row a{{x, y, 2}, x}, b{{y, x, 1}, y};
  Row& r = x > 1 ? a : b;
  std::fill(r.w, r.w + 2, x * y);
  double* p = r.w;
  p[1] += y;
  *(r.w + 2) *= *p;
  double s = times(r.w, r.w) + times(&r.w[1], (y > 1 ? a : b).w) + times(&r.k, r.w);
  return s * a.w[0] * b.w[1] * a.w[2] * b.k;
}
double sum(std::span<const double> s) {
  double r = 0;
  for (double e : s) r += e * e;
  return r;
}
void scale(std::span<double> s, double k) {
  for (double& e : s) e *= k;
}
double views_one(double x, double y) {
  std::vector<double> a{x, y}, b{y, x, 2};
  auto& v = x > 1 ? a : b;
  scale(v, x);
  double s = sum(v) * sum(y > 1 ? a : b);
  std::span<double> w(y > 1 ? a : b);
  w[0] *= x;
  scale(w.subspan(1), y);
  for (double& e : w) e += x;
  return s * w.back() * w.size() + a[0] * b[2];
}
TEST(Choices, AreContainers) {
  EXPECT_BOTH(walks_with_iterators);
  EXPECT_BOTH(changes_a_vector);
  EXPECT_BOTH(changes_an_array);
  EXPECT_BOTH(views_one);
}

double of_several(double x, double y) {
  double a = x, b = y, c = x * y;
  double& m = x > 1 ? a : y > 1 ? b : c;
  m *= 3;
  double& k = x > 1 ? (y > 1 ? a : b) : std::max(b, c) > 1 ? b : c;
  k += m * a;
  const double& n = x > 1 ? std::min(a, b) : std::max(b, c);
  (x > 1 ? a : y > 1 ? b : c) *= 2;
  return m * a * n + c * b * uses(x > 1 ? a : y > 1 ? b : c, b);
}
double with_an_index(double x, double y) {
  std::vector<double> v{x, y, x * y};
  int i = 0, j = 1;
  double& m = x > 1 ? v[i++] : v[++j];
  m *= 3;
  for (int k = 0; k < 2; ++k) {
    double& e = k ? v[i++] : v[j--];
    e *= x;
    v[1] += e;
  }
  return v[0] * v[1] * v[2] * m * (i + 10 * j);
}
TEST(Choices, AreOfSeveral) {
  EXPECT_BOTH(of_several);
  EXPECT_BOTH(with_an_index);
}

struct Base {
  double a = 1;
  virtual ~Base() = default;
  virtual double m(double x) const { return a * x; }
  void up(double k) { a *= k; }
};
struct Derived : Base {
  double c = 2;
  double m(double x) const override { return c * x * a; }
};
double calls_virtually(double x, double y) {
  Derived a, b;
  a.a = x;
  a.c = y;
  b.a = x * y;
  Derived& d = x > 1 ? a : b;
  Base& base = y > 1 ? a : b;
  d.up(x);
  base.a += x;
  const double s = d.m(y) + base.m(x);
  static_cast<Derived&>(base).c *= y;
  return s * a.a * b.a * a.c * b.c;
}
double of_optionals(double x, double y) {
  std::optional<double> a = x, b = y;
  auto& o = x > 1 ? a : b;
  *o *= x;
  o = *o + y;
  double s = o.value_or(1) * b.value();
  o.emplace(x * x);
  s *= *a;
  (y > 1 ? a : b).reset();
  return s * (x > 1 ? a : b).value_or(y) * (a ? 2 : 3);
}
double of_valarrays(double x, double y) {
  std::valarray<double> a{x, y}, b{y, x};
  auto& o = x > 1 ? a : b;
  o *= a;
  o[0] += o.sum();
  const std::valarray<double>& c = y > 1 ? a : b;
  b *= 2.;
  return (c * o).sum() * b[1];
}
double captured(double x, double y) {
  std::vector<double> a{x, y}, b{y, x};
  const auto& s = x > 1 ? a : b;
  std::transform(a.begin(), a.end(), a.begin(), [&](double e) { return e * s.front(); });
  return a[0] * a[1] * s[1];
}
TEST(Choices, AreOfAnyClass) {
  EXPECT_BOTH(calls_virtually);
  EXPECT_BOTH(of_optionals);
  EXPECT_BOTH(of_valarrays);
  EXPECT_BOTH(captured);
}

struct Made {
  double y, z;
  Made(double a, double b) : y(a), z(b) {}
};
Made last(const Made& p, const Made& q) {
  for (int i = 0; i < 3; i += 2) {
    if (i > 0) break;
    if (p.y > 100) return p;
  }
  return q;
}
double returns_the_last(double x, double y) {
  const Made r = last(Made(x, y), Made(y, x * x));
  return r.y * r.y * r.z;
}
double copies_captured(double x, double y) {
  Made d(x, y);
  double s = x * y;
  std::function<double(double)> l = [=](double p) mutable {
    std::swap(d.y, d.z);
    return d.y * p + s;
  };
  d.y *= s;
  return l(x) * l(d.y);
}
struct Holder {
  std::array<double, 2> a;
  Made m;
};
double filled(double x, double y) {
  const Made m(x, y);
  std::vector<Holder> v = std::vector<Holder>(3, Holder{{x, y}, m});
  std::vector<Made> w(2, Made(y, x * x));
  return v[1].a[0] * v[2].m.z * v[0].m.y * w[0].z + w[1].y;
}
double in_vectors(double x, double y) {
  std::vector<Made> v{Made(x, y), Made(y, 2)};
  v.resize(3, v[0]);
  v[0].y *= 2;
  v.resize(2, Made(x, x));
  v.insert(v.begin(), Made(x * y, y));
  v.erase(v.begin() + 1);
  v.push_back(v[0]);
  std::sort(v.begin(), v.end(), [](const Made& p, const Made& q) { return p.y < q.y; });
  std::rotate(v.begin(), v.begin() + 1, v.end());
  return v[0].y * v[1].z * v[2].y;
}
TEST(Choices, AreOfClassesWithoutDefaultConstructor) {
  EXPECT_BOTH(returns_the_last);
  EXPECT_BOTH(copies_captured);
  EXPECT_BOTH(in_vectors);
  EXPECT_BOTH(filled);
  double v = 1, w = 0, h[2] = {};
  clad::hessian_vector_product(returns_the_last, "x, y").execute(1.3, 0.7, &v, &w, &h[0], &h[1]);
  EXPECT_NEAR(h[0], 2 * 0.7 * 0.7, 1e-12);
  EXPECT_NEAR(h[1], 4 * 0.7 * 1.3, 1e-12);
}

// An object that is named as its base class is cast down again: by a base that is made for it, or by a
// function that knows.
namespace cast_down {
template <class D>
struct Area {
  double area() const {
    const auto& s = static_cast<const D&>(*this);
    return s.w * s.h;
  }
  double twice() const { return static_cast<const D*>(this)->w * 2; }
  const D& self() const { return static_cast<const D&>(*this); }
  double of_self() const { return self().h * self().w; }
  bool operator<(const D& o) const { return area() < o.area(); }
};
struct Box : Area<Box> {
  double w, h;
  Box(double a, double b) : w(a), h(b) {}
};
template <class D>
double of_any(const Area<D>& a) {
  return a.area() * a.twice();
}
struct Base {
  double u = 1;
};
struct Derived : Base {
  double v = 0;
};
double of(const Base& b) {
  const auto& d = static_cast<const Derived&>(b);
  return d.v * d.v * d.u;
}
double of_pointer(const Base* b) { return static_cast<const Derived*>(b)->v; }
double of_larger(const Base& a, const Base& b) { return of(a.u > b.u ? a : b); }
struct Empty {};
struct Full : Empty {
  double v = 0;
};
double of_empty(const Empty& e) {
  const auto& f = static_cast<const Full&>(e);
  return f.v * f.v;
}

double made_for_it(double x, double y) {
  Box p(x, y), q(y, 2);
  const Box& m = x > y ? p : q;
  return m.area() + (x < y ? p : q).of_self() + std::max(p, q).area() + std::max<Box>(p, q).twice() +
         of_any(m) * of_any(x > y ? q : p);
}
double by_functions(double x, double y) {
  Derived p, q;
  p.v = x;
  q.v = y;
  p.u = y;
  const Base &a = p, &b = q;
  const Base& m = x > y ? a : b;
  double sum = of(m) + of(x > y ? q : p) * of(b) + of_larger(p, q) + of_larger(q, p);
  for (int i = 0; i < 3; ++i) {
    const Base& c = i % 2 ? p : q;
    sum += of(c) * of_pointer(&c);
    q.v *= y;
  }
  return sum * of_pointer(x > y ? &p : &q);
}
double of_empty_base(double x, double y) {
  Full p, q;
  p.v = x;
  q.v = y;
  return of_empty(p) * of_empty(q) + of_empty(x > y ? p : q);
}
}  // namespace cast_down
TEST(Choices, AreCastDown) {
  EXPECT_DERIVATIVES(cast_down::made_for_it, 1.3, 0.7);
  EXPECT_DERIVATIVES(cast_down::made_for_it, 0.7, 1.3);
  EXPECT_DERIVATIVES(cast_down::by_functions, 1.3, 0.7);
  EXPECT_DERIVATIVES(cast_down::by_functions, 0.7, 1.3);
  EXPECT_DERIVATIVES(cast_down::of_empty_base, 1.3, 0.7);
}

}  // namespace
