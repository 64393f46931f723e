// Tuples, complex numbers, optional values, and objects on the heap.
#include <array>
#include <complex>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using complex = std::complex<double>;

double tuples(double x, double y) {
  std::tuple<double, double, int> t = std::make_tuple(x * y, y, 2);
  std::get<0>(t) *= std::get<1>(t);
  std::get<1>(t) += x * std::get<2>(t);
  auto copy = t;
  std::get<0>(copy) = x;
  return std::get<0>(t) * std::get<1>(t) + std::get<0>(copy);
}
std::tuple<double, double> both(double a, double b) { return {a * b, std::sin(a)}; }
std::tuple<double, float, int> mixed(double a, double b) { return std::make_tuple(a + b, 2.0f, 3); }
double bound(double x, double y) {
  auto [u, v] = both(x, y);
  auto [a, b, n] = mixed(u, v);
  const auto& [c, d] = both(y, a);
  return u * v * a * n + c * d;
}
double tied(double x, double y) {
  double u, v;
  std::tie(u, v) = both(x, y);
  std::tie(v, std::ignore) = std::make_pair(u * v, 1);
  std::tie(u, v) = std::make_tuple(v, u);
  return u * u * v;
}
double chosen(double x, double y) {
  std::tuple<double, double> t(x, y);
  if (x > y) t = std::make_tuple(y * y, x);
  t = both(std::get<0>(t), std::get<1>(t));
  return std::get<0>(t) * std::get<1>(t);
}
double of_tuple(const std::tuple<double, double>& t) { return std::get<0>(t) * std::get<1>(t); }
double passes_tuple(double x, double y) { return of_tuple({x, y * x}) + of_tuple(std::make_tuple(y, y)); }

double arithmetic(double x, double y) {
  complex z(x, y), w = x;
  z = z * z + complex(1, x);
  w += z;
  w *= z - 2.0;
  w -= 1.5 * z / w;
  w /= complex(y, 2);
  z.real(z.imag() * x);
  z.imag(y);
  return w.real() * w.imag() + std::norm(z) + (-z).real() + std::real(w / 2.0) * std::imag(3.0 - z);
}
double functions(double x, double y) {
  const complex z(x, y);
  return std::abs(z * z) + std::exp(z).real() * std::arg(z) + std::log(z).imag() + std::conj(z).imag() +
         std::sqrt(z).imag() * std::sqrt(-z).real() + std::pow(z, 3).real() + std::pow(z, 1.5).imag() +
         std::sin(z).real() * std::cosh(z).imag() + std::tanh(z).real() +
         (std::polar(x, y) * std::polar(2.0, x) / std::polar(y)).imag();
}
double inverse_functions(double x, double y) {
  const complex z(x, y);
  const complex w =
      std::asin(z) * std::acos(z) + std::atan(z) * std::asinh(z) + std::acosh(z) * std::atanh(z);
  return (w + std::proj(z)).real() * std::log10(z).imag() + w.imag() * std::log10(z).real();
}
double through_a_pointer(double x, double y) {
  complex z(x, y);
  complex* p = &z;
  p->imag(x * y);
  p->real(y * p->imag());
  return z.imag() * p->real();
}
double narrowed(double x, double y) {
  const complex z(x, y);
  const std::complex<float> s(z);
  return s.real() * s.imag();
}
complex horner(const std::vector<complex>& c, complex z) {
  complex s = 0;
  for (const complex& a : c) s = s * z + a;
  return s;
}
double polynomial(double x, double y) {
  std::vector<complex> c{complex(1, x), complex(y, 2), {0.5, x * y}};
  return std::norm(horner(c, complex(x, y)));
}
double escapes(double x, double y) {
  complex c(x, y), z;
  int n = 0;
  while (n < 5 && std::abs(z) < 2) {
    z = z * z + c;
    ++n;
  }
  return std::abs(z);
}

double maybe(double x, double y) {
  std::optional<double> o;
  if (x > 0) o = x * y;
  if (o.has_value()) *o *= y;
  if (o) return *o * y + o.value();
  return o.value_or(3.0) * x;
}
std::optional<double> root(double a) {
  if (a < 0) return std::nullopt;
  return std::sqrt(a);
}
double returned(double x, double y) {
  auto o = root(x * y);
  if (!o) return x;
  double s = o.value() * y + root(-x).value_or(y * x);
  o = std::nullopt;
  o.reset();
  s *= o ? *o : x;
  o.emplace(s * x);
  return *o * s;
}
struct Point {
  double x, y;
};
double of_class(double x, double y) {
  std::optional<Point> p = Point{x, y};
  p->x *= p->y;
  return p->x * p->y;
}

double emplaced_by_lambda(double x, double y) {
  std::optional<double> o{x};
  const auto l = [&](double k) {
    o.emplace(k * y) *= 2;
    return x;
  };
  return l(x) * *o;
}
struct Maybe {
  std::optional<double> a, b;
};
double arrays_of_optional(double x, double y) {
  std::optional<double> o[3]{x, y, {}};
  std::array<std::optional<std::vector<double>>, 2> v{std::vector<double>{x, y}};
  Maybe m[2]{{x, y}, {y, {}}};
  o[0].value() *= *o[1];
  o[1].reset();
  o[2] = *o[0] * y;
  (*v[0])[0] *= *m[0].a * *m[0].b;
  m[1].b.emplace(x * y);
  return *o[0] * o[2].value() * o[1].value_or(x) + (*v[0])[0] * (*v[0])[1] * *m[1].a * m[1].b.value();
}

double unique(double x, double y) {
  auto p = std::make_unique<double>(x * y);
  *p += y;
  auto q = std::make_unique<Point>(Point{x, *p});
  q->x *= q->y;
  std::unique_ptr<double> r(new double(q->x));
  return *p * *p + q->x * q->y * *r;
}
void scale(Point& p, double by) { p.x *= by; }
void scale_owned(const std::unique_ptr<Point>& p, double by) { p->y *= by; }
double passes(double x, double y) {
  auto p = std::make_unique<Point>();
  p->x = x;
  p->y = y;
  scale(*p, y);
  scale_owned(p, x);
  auto q = std::move(p);
  return q ? q->x * q->y : 0;
}
double shared(double x, double y) {
  auto p = std::make_shared<Point>(Point{x, y});
  auto q = p;
  q->x *= y;
  std::shared_ptr<Point> r = q;
  r->y += p->x;
  return p->x * p->y;
}
double arrays(double x, double y, int n) {
  auto p = std::make_unique<double[]>(n);
  for (int i = 0; i < n; ++i) p[i] = x * i + y;
  double* q = new double[n];
  for (int i = 0; i < n; ++i) q[i] = p[i] * p[n - 1 - i];
  double s = 0;
  for (const double* it = q; it != q + n; ++it) s += *it * *it;
  delete[] q;
  return s;
}
double allocated(double x, double y, int n) {
  double* p = (double*)std::malloc(n * sizeof(double));
  double* q = static_cast<double*>(calloc(static_cast<std::size_t>(n), sizeof(double)));
  for (int i = 0; i < n; ++i) p[i] = x * i + y;
  for (int i = 0; i < n; i += 2) q[i] = p[i] * x;
  double s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * p[i] * q[i];
  std::free(p);
  free(q);
  double* one = new double(s * x);
  *one *= *one;
  s = *one * y;
  delete one;
  return s;
}
double per_iteration(double x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double* p = new double[2]{x, s};
    p[0] *= p[1] + i;
    s += p[0] * x;
    delete[] p;
  }
  return s;
}
double sum_of(const double (*m)[3], int n) {
  double s = 1;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) s += m[i][k] * m[n - i - 1][k] * (i + k);
  return s;
}
double rows(double x, double y) {
  const int n = 2;
  double(*m)[3] = new double[n][3]();
  auto owned = std::make_unique<double[][3]>(2);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      m[i][k] += x * i + y * k;
      owned[i][k] = m[i][k] * x;
    }
  double s = sum_of(m, n) * owned[1][2];
  delete[] m;
  for (int k = 0; k < 3; ++k) {
    double(*one)[2][3] = new double[2][2][3];
    one[0][1][k] = x * s;
    one[1][0][k] = y;
    s = one[0][1][k] * one[1][0][k];
    delete[] one;
  }
  return s;
}
double references(double x, double y) {
  double a = x;
  auto r = std::ref(a);
  r.get() *= y;
  const double& b = r;
  return a * b;
}

struct Based : Point {
  double z;
};
double of_temporaries(double x, double y) {
  const double s = std::make_pair(x * y, y).first * std::make_pair(x, y).second;
  return s * std::make_pair(y, Based{{x, y}, x * y}).second.z * Based{{x, y}, 2 * y}.x * Based{{x, y}, x}.z;
}

TEST(Objects, Tuples) {
  EXPECT_GRADIENT(tuples, 1.3, 0.7);
  EXPECT_GRADIENT(bound, 1.3, 0.7);
  EXPECT_GRADIENT(tied, 1.3, 0.7);
  EXPECT_GRADIENT(chosen, 1.3, 0.7);
  EXPECT_GRADIENT(chosen, 0.3, 0.7);
  EXPECT_GRADIENT(passes_tuple, 1.3, 0.7);
  EXPECT_GRADIENT(of_temporaries, 1.3, 0.7);
}
TEST(Objects, ComplexNumbers) {
  EXPECT_GRADIENT(arithmetic, 1.3, 0.7);
  EXPECT_GRADIENT(functions, 1.3, 0.7);
  EXPECT_GRADIENT(functions, -1.3, -0.7);
  EXPECT_DERIVATIVES(inverse_functions, 1.3, 0.7);
  EXPECT_DERIVATIVES(inverse_functions, 0.4, -1.2);
  EXPECT_DERIVATIVES(inverse_functions, -0.4, 0.3);
  EXPECT_DERIVATIVES(inverse_functions, -1.4, -0.7);
  EXPECT_DERIVATIVES(through_a_pointer, 1.3, 0.7);
  EXPECT_GRADIENT_WITHIN((clad::test::Agreement{1e-4L, 2e-2L}), narrowed, 1.3, 0.7);
  EXPECT_GRADIENT(polynomial, 1.3, 0.7);
  EXPECT_GRADIENT(escapes, 0.3, 0.4);
  EXPECT_GRADIENT(escapes, 1.3, 0.7);
  double m[4];
  clad::hessian(polynomial).execute(1.3, 0.7, m);
  EXPECT_NEAR(m[1], m[2], 1e-9);
}
TEST(Objects, OptionalValues) {
  EXPECT_GRADIENT(maybe, 1.3, 0.7);
  EXPECT_GRADIENT(maybe, -1.3, 0.7);
  EXPECT_GRADIENT(returned, 1.3, 0.7);
  EXPECT_GRADIENT(returned, 1.3, -0.7);
  EXPECT_GRADIENT(of_class, 1.3, 0.7);
  EXPECT_GRADIENT(emplaced_by_lambda, 1.3, 0.7);
  EXPECT_GRADIENT(arrays_of_optional, 1.3, 0.7);
}
TEST(Objects, OnTheHeap) {
  EXPECT_GRADIENT(unique, 1.3, 0.7);
  EXPECT_GRADIENT(passes, 1.3, 0.7);
  EXPECT_GRADIENT(shared, 1.3, 0.7);
  for (int n : {0, 1, 4}) {
    EXPECT_GRADIENT(arrays, 1.3, 0.7, n);
    EXPECT_GRADIENT(allocated, 1.3, 0.7, n);
    EXPECT_GRADIENT(per_iteration, 1.3, n);
    EXPECT_DERIVATIVES(rows, 1.3, 0.7);
  }
  EXPECT_GRADIENT(references, 1.3, 0.7);
}

std::mutex gate;
struct Scope {
  explicit Scope(const char* name) : name(name) {}
  Scope(const Scope&) = delete;
  ~Scope() {}
  const char* name;
};
double guarded(double x, double y) {
  Scope scope("guarded");
  double s = 1;
  for (int i = 0; i < 3; ++i) {
    std::lock_guard<std::mutex> lock(gate);
    s = s * x + y;
  }
  std::scoped_lock lock(gate);
  return s * y;
}
TEST(Objects, ThatCannotBeCopiedGuardAScope) {
  EXPECT_GRADIENT(guarded, 1.3, 0.7);
  double h[4];
  clad::hessian(guarded).execute(1.3, 0.7, h);  // s = x^3 + y (x^2 + x + 1)
  EXPECT_NEAR(6 * 1.3 * 0.7 + 2 * 0.7 * 0.7, h[0], 1e-12);
  EXPECT_NEAR(2 * (1.3 * 1.3 + 1.3 + 1), h[3], 1e-12);
}

double local_names(double x, double y) {
  enum class Kind { product, square };
  enum { first, second };
  const Kind kind = x > 1 ? Kind::product : Kind::square;
  double p[2] = {x, y};
  if (kind == Kind::product) return p[first] * p[second];
  return p[second] * p[second] * x;
}
TEST(Objects, EnumeratorsOfAFunction) {
  for (double x : {1.3, 0.7}) EXPECT_GRADIENT(local_names, x, 1.1);
}

// What is locked in a block is free after it.
std::mutex mutex;
double locks_twice(double x, double y) {
  double s = x;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    s *= y;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    s += x * s;
  }
  return s;
}
TEST(Objects, LocksAreFreedAtTheEndOfTheirBlock) {
  EXPECT_GRADIENT(locks_twice, 1.3, 0.7);
  EXPECT_GRADIENT(locks_twice, 0.7, 1.9);
}

namespace hidden {
struct A {
  double v;
};
struct B : A {
  double v;
};
struct C : B {};
template <int N>
struct Level : Level<N - 1> {
  double v = N;
};
template <>
struct Level<0> {
  double v = 0.5;
};
struct Top : Level<2> {};
double by_object(double x, double y) {
  C c;
  c.v = x;
  c.A::v = y;
  c.A::v *= c.v;
  C* p = &c;
  p->A::v += x;
  return c.v * c.A::v + y;
}
double by_levels(double x, double y) {
  Top t;
  t.v = x * y;
  t.Level<1>::v = y;
  t.Level<0>::v = t.v * t.Level<1>::v;
  return t.v + t.Level<1>::v * t.Level<0>::v;
}
double of_base(const C& c) { return c.A::v * c.v; }
}  // namespace hidden
TEST(Objects, MembersThatAClassBetweenHides) {
  EXPECT_DERIVATIVES(hidden::by_object, 1.3, 0.7);
  EXPECT_DERIVATIVES(hidden::by_levels, 1.3, 0.7);
  const hidden::C c{{{2}, 3}};
  hidden::C d{};
  clad::gradient(hidden::of_base).execute(c, &d);
  EXPECT_EQ(3, d.A::v);
  EXPECT_EQ(2, d.v);
}

}  // namespace
