// std::valarray: its operators, functions and members.
#include <cmath>
#include <cstddef>
#include <utility>
#include <valarray>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;
using array = std::valarray<double>;

namespace {

double operators(const double* p, int n) {
  array a(p, n);
  array b = a * a + std::sin(a) * 2.0;
  b *= a;
  b = -b / (1.0 + a);
  return b.sum() + (a * b).sum() * b[0];
}
double assigns(const double* p, int n) {
  array a(p, n), c(2.0, n), z(n);
  a += 2.0;
  z = a - c / a;
  z[1] = 3 * z[0];
  c = z;
  c = std::pow(c, 2.0) + std::exp(-z) + std::atan2(a, z);
  z = p[0];
  z.resize(2, p[1]);
  return c.max() * c.min() + c[1] + c.size() + z.sum();
}
double members(const double* p, int) {
  array a{p[0], p[1], p[2]};
  array b = a.apply([](double x) { return x * x; });
  b = b.cshift(1) + b.shift(-1);
  double s = 0;
  for (double x : b) s += x * x;
  b = 1.5;
  return s + b.sum() + std::abs(a - b).sum() + (a * p[1]).sum() - (-a)[2];
}
double dot(const array& u, const array& v) { return (u * v).sum(); }
void scale(array& u, double k) {
  u *= k;
  u[0] += k;
}
array twice(const array& u) { return u + u; }
double is_passed(const double* p, int n) {
  array a(p, n), b(a);
  scale(b, p[1]);
  auto c = twice(a * b);
  std::swap(a, b);
  const array& r = a;
  auto times = [&](double k) { return (r * k).sum(); };
  return dot(a, c) + dot(b + 1.0, twice(c)) + times(p[2]);
}
double diffuses(const double* p, int n) {
  array u(p, n);
  for (int t = 0; t < 4; ++t) {
    array laplacian = u.cshift(1) - 2.0 * u + u.cshift(-1);
    u += 0.1 * laplacian * u;
  }
  return (u * u).sum() / u.size();
}

TEST(Valarrays, CarryDerivatives) {
  const buffer p{0.7, 1.3, 0.4};
  EXPECT_GRADIENT(operators, p, 3);
  EXPECT_GRADIENT(assigns, p, 3);
  EXPECT_GRADIENT(members, p, 3);
  EXPECT_GRADIENT(is_passed, p, 3);
  EXPECT_GRADIENT(diffuses, p, 3);
}
TEST(Valarrays, HaveSecondDerivatives) {
  const auto hessian = clad::hessian(diffuses, "p[0:2]");
  const auto gradient = clad::gradient(diffuses, "p");
  double p[3] = {0.7, 1.3, 0.4}, h[9] = {};
  const double step = 1e-5;
  hessian.execute(p, 3, h);
  for (int k = 0; k < 3; ++k) {
    double up[3] = {}, down[3] = {};
    p[k] += step;
    gradient.execute(p, 3, up);
    p[k] -= 2 * step;
    gradient.execute(p, 3, down);
    p[k] += step;
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(h[3 * i + k], (up[i] - down[i]) / (2 * step), 1e-8);
  }
}

/// A reference to an element is one to it after an assignment to the whole, too.
double keeps_a_reference(double x, double y) {
  array t{y, 1.5, 1.5};
  const double s = t[0] * y;
  double& r = t[1];
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) t = 1.5 + 0.3 * std::sin(t * t + x);
    r = y;
  }
  return s + t[0] * r * t[1];
}
TEST(Valarrays, ReferencesToElementsStay) {
  EXPECT_GRADIENT(keeps_a_reference, 1.3, 0.7);
  EXPECT_GRADIENT(keeps_a_reference, 0.4, 1.9);
}

double sums_an_expression(double x) {
  std::valarray<double> v{1.5, x, 1.031};
  for (int i = 0; i < 3; ++i) v[i] = 2.1 + 1.52 * std::sin((v * v).sum());
  return v.sum() * v[2];
}
TEST(Valarrays, TheSumOfAnExpressionIsTheSameToTheLastBit) {
  EXPECT_GRADIENT(sums_an_expression, 0.648126);
  for (const double x : {0.1, 0.3, 0.648126, 1.7}) {
    double d = 0;
    EXPECT_EQ(clad::value_and_gradient(sums_an_expression).execute(x, &d), sums_an_expression(x));
  }
}

}  // namespace
