// Objects that change places, and sums of adjoints.
// That analyses leave things out is measured elsewhere; that they leave out nothing which is needed is tested
// here.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;
using clad::test::slope;

namespace {

// Objects that change places.

double steps_in_time(const std::vector<double>& p, int n) {
  std::vector<double> u = p, v = p;
  for (int t = 0; t < n; ++t) {
    for (std::size_t i = 1; i + 1 < u.size(); ++i) v[i] = u[i] * u[i - 1] + 0.5 * u[i + 1];
    std::swap(u, v);
  }
  double s = 0;
  for (std::size_t i = 0; i < u.size(); ++i) s += u[i] * u[i] + v[i];
  return s;
}
double swapped_where_read(const std::vector<double>& p) {
  std::vector<std::vector<double>> rows{p, p, p};
  std::vector<double> u{p[0] * p[1], 2};
  double s = rows[0][1] * u[0];
  rows[0][1] = s * s;
  std::swap(rows[0], u);
  s += rows[0][0] * u[1] * u[1];
  std::swap(rows[1], rows[1]);
  u[0] = s * rows[1][0];
  rows[2].swap(u);
  std::array<double, 2> a{s, p[0]}, b{p[1], s * s};
  std::swap(a, b);
  return s * rows[2][0] + u[1] + a[0] * a[1] * b[0] * b[1];
}
void swap_parameters(std::vector<double>& a, std::vector<double>& b) {
  std::swap(a, b);
  a[0] *= b[0];
}
double swapped_outside(std::vector<double>& a, std::vector<double>& b) {
  swap_parameters(a, b);
  double s = a[0] * a[1] * b[0];
  std::swap(a, b);
  return s + a[1] * a[0];
}
TEST(Swapped, ObjectsOfEveryKind) {
  for (int n : {0, 1, 3}) EXPECT_GRADIENT(steps_in_time, std::vector<double>{0.5, 0.75, 1.25, 0.3, 0.8}, n);
  EXPECT_GRADIENT(swapped_where_read, std::vector<double>{0.5, 0.75});
  EXPECT_GRADIENT_IN_PLACE(swapped_outside, std::vector<double>{0.5, 0.75}, std::vector<double>{1.25, 0.6});
  std::vector<double> v{0.5, 0.75}, d(2);
  clad::gradient(swapped_outside).execute(v, v, &d, &d);
  EXPECT_EQ(v, (std::vector<double>{0.5, 0.75}));
}

// Sums of adjoints.

double one_element(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) s = s * p[n] + p[i] * p[n + 1];
  return s;
}
/// Every iteration reads what the one before wrote.
double written_and_read(const double* p, int n) {
  std::vector<double> u(p, p + n);
  for (int i = 1; i < n; ++i) u[i] += u[i - 1] * u[0];
  for (int i = 0; i < n; ++i) u[0] += u[i] * u[i];
  for (int i = 0; i + 1 < n; ++i) u[i + 1] = u[i];
  for (int i = 0; i < n; ++i) u[1] = u[i] * p[0];
  return u[0] + u[n - 1] + u[1] * u[1];
}
double eliminates(const double* p, int n) {
  std::vector<double> a(p, p + n * n);
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  double s = 1;
  for (int k = 0; k < n; ++k) s *= a[k * n + k];
  return s;
}
TEST(Sums, OnlyOfWhatNothingReadsMeanwhile) {
  const buffer p{0.5, 0.75, 1.25, 0.3, 0.8, 1.1, 0.9, 0.4, 1.5};
  for (int n : {0, 1, 4}) EXPECT_GRADIENT(one_element, p, n);
  for (int n : {2, 3, 5}) EXPECT_GRADIENT(written_and_read, p, n);
  for (int n : {1, 2, 3}) EXPECT_GRADIENT(eliminates, p, n);
}
TEST(Sums, OfAdjointsThatAreTheSame) {
  auto f = [](const double* a, const double* b, int n) {
    double s = 0;
    for (int i = 0; i < n; ++i) s = s * b[0] + a[i] * b[1];
    return s;
  };
  auto g = clad::gradient(f, "a, b");
  const double p[] = {0.5, 0.75, 1.25};
  double d[3] = {};
  g.execute(p, p, 3, d, d);
  auto same = [&](std::vector<double> u) { return f(u.data(), u.data(), 3); };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(d[i], slope(same, {0.5, 0.75, 1.25}, i), 1e-6);
}

}  // namespace
