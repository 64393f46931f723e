// Elements made in place, swaps, and references to elements of vectors that grow and shrink.
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using vec = std::vector<double>;
struct Point {
  double a, b;
};
struct Scaled {
  double a;
  int n;
  Scaled(double x, int k) : a(x * k), n(k) {}
  Scaled(double x) : Scaled(x, 3) {}
};

double emplaced_numbers(double x) {
  vec v;
  v.emplace_back(x);
  v.emplace_back(2);
  v.emplace_back(v[0] * x);
  v.emplace_back();
  v.emplace_back(v[0]) *= 3;
  double& last = v.emplace_back(x * x);
  last *= x;
  v.emplace_back(v.back());
  std::vector<int> n;
  n.emplace_back(3);
  std::vector<std::string> names;
  names.emplace_back("a");
  double s = 0;
  for (double e : v) s += e * e * n[0] * names.size();
  return s;
}
double emplaced_objects(double x) {
  std::vector<Point> v;
  v.emplace_back(x, x * x);
  v.emplace_back(Point{x, 2});
  v.emplace_back();
  v.emplace_back(v[0]);
  std::vector<Scaled> w;
  w.emplace_back(x, 2);
  w.emplace_back(x * x);
  Scaled one{x};
  w.emplace_back(one);
  w.emplace_back(std::move(one));
  double s = 1;
  for (auto& p : v) s += p.a * p.a * p.b + p.b * s;
  for (auto& p : w) s *= p.a * p.n;
  return s;
}
double emplaced_vectors(double x) {
  std::vector<vec> v;
  v.emplace_back(2, x);
  v.emplace_back(vec{x, 3});
  v.emplace_back();
  v.back().emplace_back(x * 2);
  for (int i = 0; i < 3; ++i) v.emplace_back().push_back(x * i);
  double s = 1;
  for (auto& row : v)
    for (double e : row) s += s * e + e * e;
  return s;
}
TEST(Vectors, EmplaceBack) {
  EXPECT_GRADIENT(emplaced_numbers, 0.7);
  EXPECT_GRADIENT(emplaced_objects, 0.7);
  EXPECT_GRADIENT(emplaced_vectors, 0.7);
}

double swapped(double x) {
  vec v{x, 1, 2 * x}, w{x * x};
  v.swap(w);
  std::swap(v, w);
  w.swap(v);
  std::swap(v[0], w[0]);
  int i = 0, index[] = {1, 2};
  std::swap(i, index[i]);
  Point a{x, 1}, b{2, x};
  std::swap(a, b);
  std::swap(a.a, b.b);
  std::swap(a.a, a.a);
  std::array<double, 2> p{x, 1}, q{1, x * x};
  p.swap(q);
  return v[0] * w[0] * w[i + 1] * index[0] + v.size() * w.size() * x + a.a * a.b * b.a * b.b +
         p[0] * q[0] * p[1];
}
double swapped_in_lambda(double x) {
  vec v{x, 1};
  const std::function<double(double)> f = [&, k = x](double t) {
    vec a{t, x}, b = v;
    std::swap(a, b);
    return a[0] * b[0] * k;
  };
  const auto g = [&](double t) {
    vec a{t, x};
    a.swap(v);
    return a[0];
  };
  const std::function<double(double)> h = [&](double t) { return g(t) * v[1]; };
  return f(2 * x) * h(x) * v[0] * h(2 * x);
}
TEST(Vectors, Swaps) {
  EXPECT_GRADIENT(swapped, 0.7);
  EXPECT_GRADIENT(swapped_in_lambda, 0.7);
}

double shrinking(double x) {
  std::vector<Point> v;
  for (int i = 0; i < 4; ++i) v.emplace_back(x * i, x);
  v.pop_back();
  Point& last = v.back();
  last.a *= x;
  const double s = last.a * v.front().b;
  v.clear();
  v.emplace_back(s, x);
  return v.back().a * v.front().b;
}
double last_before_growth(double x) {
  vec v{x, 2 * x};
  double s = 1;
  {
    double& last = v.back();
    s += last * last;
    v.push_back(s);
  }
  return v[0] * v[2] * v[1];
}
double element_before_clear(double x) {
  vec v{x, 2 * x};
  double& first = v[0];
  const double* data = v.data();
  double s = first * first + data[1];
  v.clear();
  for (int i = 0; i < 100; ++i) v.push_back(s);
  return v[0] * x;
}
TEST(Vectors, ReferencesToElementsBeforeTheLengthChanges) {
  EXPECT_GRADIENT(shrinking, 0.7);
  EXPECT_GRADIENT(last_before_growth, 0.7);
  EXPECT_GRADIENT(element_before_clear, 0.7);
}

double erases_while_walking(double x) {
  vec v{x, 2 * x, 3 * x, 0.2};
  for (auto it = v.begin(); it != v.end();) {
    if (*it > 1.5) {
      it = v.erase(it);
    } else {
      *it *= x;
      ++it;
    }
  }
  auto at = v.insert(v.begin() + 1, x * x);
  *at *= 2;
  at = v.erase(at - 1, at);
  *at += x;
  vec::const_iterator end = v.cend();
  at = v.insert(end, *(end - 1) * x);
  *at *= x;
  return v[0] * v[1] + v.back() * v.size();
}
TEST(Vectors, IteratorsAreWhatEraseAndInsertReturn) { EXPECT_GRADIENT(erases_while_walking, 0.7); }

double chosen(double x) {
  double a = x, b = x * x;
  const double& r = x > 0.5 ? a : b;
  a *= 3;
  double s = r * r;
  b *= r;
  vec v{x, 2 * x}, w{x * x};
  const auto& u = x > 0.5 ? v : w;
  v[1] *= 3;
  for (double e : u) s += e * e;
  for (double e : x > 0.5 ? w : v) s += e * s;
  auto sum = [&] { return u[0] * u.size() * r; };
  return s * b * r * sum();
}
TEST(Vectors, ConstReferencesToAChosenObject) {
  EXPECT_GRADIENT(chosen, 0.7);
  EXPECT_GRADIENT(chosen, 0.3);
}

double rows(double x, double y) {
  std::vector<double> a[3]{{x, y}, std::vector<double>(3, x), {}};
  for (int i = 0; i < 2; ++i) a[2].push_back(a[0][1] * a[1][i]);
  a[1].clear();
  return a[0][0] * a[2][1] + a[2][0];
}
TEST(Vectors, InAnArray) { EXPECT_REVERSE_GRADIENT(rows, 0.5, 1.25); }

double of_a_list(std::initializer_list<double> list, double x) {
  std::vector<double> v(list);
  v.push_back(x * v[0]);
  return v[0] * v[1] + v[2];
}
double passes_a_list(double x, double y) { return of_a_list({x, y}, y); }

TEST(Vectors, AreMadeOfAListThatIsAParameter) { EXPECT_GRADIENT(passes_a_list, 1.3, 0.7); }

double inserted(double x, double y) {
  std::vector<double> v{x, y};
  v.insert(v.begin() + 1, x * y);
  v.insert(v.begin(), 2, y);
  v.emplace(v.begin() + 1, x);
  v.emplace(v.end(), 3);
  *v.emplace(v.begin(), y) += x;
  double s = 0;
  for (std::size_t i = 0; i < v.size(); ++i) s += v[i] * v[i] * (i + 1.0);
  return s;
}
double by_rows(double x, double y) {
  double m[2][3] = {{x, y, 1}, {y, x, 2}};
  double(*q)[3] = m;
  q[1][2] *= y;
  return q[0][1] * q[1][1] * q[1][2];
}
TEST(Vectors, InsertInSeveralDirections) {
  EXPECT_DERIVATIVES(inserted, 1.3, 0.7);
  double d[2] = {}, g[2] = {};
  clad::differentiate<clad::opts::vector_mode>(inserted, "x,y").execute(1.3, 0.7, &d[0], &d[1]);
  clad::gradient(inserted).execute(1.3, 0.7, &g[0], &g[1]);
  EXPECT_NEAR(d[0], g[0], 1e-12);
  EXPECT_NEAR(d[1], g[1], 1e-12);
  double row[2] = {};
  clad::jacobian(by_rows).execute(1.3, 0.7, row);
  EXPECT_NEAR(row[0], 2 * 0.7 * 0.7, 1e-12);  // of 2 x y^2
  EXPECT_NEAR(row[1], 4 * 1.3 * 0.7, 1e-12);
}

// A reference to a number stays one, whatever it is assigned.
double beside_a_swap(double x, double y) {
  double& r = x;
  std::vector<double> v{x, y}, w{y, 2};
  r = v.back() * w.front() + r;
  std::swap(v, w);
  return r * v[0] + w[1] * r;
}
TEST(Vectors, ExchangedBesideAReferenceToANumber) { EXPECT_GRADIENT(beside_a_swap, 1.3, 0.7); }

}  // namespace
