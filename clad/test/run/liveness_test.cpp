// Values that are put back only where something reads them.
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

double read_between(double x, double y) {
  double a = x * y;
  double b = a * a;
  a = b + x;
  double c = a * y;
  a = c * c;
  a = a * b;
  return a * a;
}
double read_in_one_branch(double x, double y) {
  double a = x;
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 1)
      s += a * a;
    else
      a = a * y + i;
    a = a + x;
  }
  a = 2 * y;
  return s * a;
}
double declared_in_the_loop(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) {
    double a = p[i];
    for (int j = 0; j < 2; ++j) a = a * a + s;
    s += a;
    a = 3;
  }
  return s;
}
double array_elements(const double* p, int n) {
  double a[3] = {p[0], p[1], p[2]};
  double s = 0;
  for (int i = 0; i < n; ++i) {
    int k = i % 3;
    s += a[k] * a[(k + 1) % 3];
    a[k] = s * a[k];
  }
  return s;
}
double index_moves(const double* p, int n) {
  double a[4] = {1, 1, 1, 1};
  int k = 0;
  for (int i = 0; i < n; ++i) {
    a[k] = a[k] * p[i] + 1;
    k = (k + 3) % 4;
    a[k] *= a[k];
  }
  k = 17;
  return a[0] * a[1] * a[2] * a[3];
}
double summed_then_used(const double* p, int n) {
  std::vector<double> c(2);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 2; ++j) c[j] += p[i] * p[j];
  double s = c[0] * c[1];
  c[0] = s;
  c[1] += c[0] * s;
  return c[0] * c[1];
}
double swapped(double x, double y) {
  double a = x, b = y * y;
  for (int i = 0; i < 3; ++i) {
    double t = a * b;
    a = b;
    b = t + std::sin(a);
  }
  return a * b;
}
void square(double& a) { a = a * a; }
double changed_in_calls(double x, double y) {
  double a = x;
  square(a);
  double b = a * y;
  square(a);
  square(b);
  a += b;
  square(a);
  return a;
}
double through_references(double x, double y) {
  double a = x;
  double& r = a;
  double s = r * y;
  r = s;
  a *= r;
  double& q = a;
  q = q * s;
  s = 2;
  return a * s;
}
double overwritten_parameters(double x, double* out) {
  out[0] = x * out[1];
  out[1] = out[0] * x;
  out[0] = out[1] * out[1];
  return out[0];
}
double integers_behind_a_pointer(double x, int n) {
  int k = n;
  int* p = &k;
  double s = x;
  s = s * *p + 1;
  *p = 2;
  s = s * k;
  k = 3;
  s = s * s * *p;
  return s;
}
TEST(PutBack, WhatAnEarlierStatementReads) {
  EXPECT_GRADIENT(read_between, 0.7, 1.3);
  EXPECT_GRADIENT(read_in_one_branch, 0.7, 1.3);
  EXPECT_GRADIENT(declared_in_the_loop, buffer{0.5, 0.75, 0.25}, 3);
  EXPECT_GRADIENT(array_elements, buffer{0.5, 0.75, 0.25}, 5);
  EXPECT_GRADIENT(index_moves, buffer{0.5, 0.75, 1.25, 1.5, 0.8}, 5);
  EXPECT_GRADIENT(summed_then_used, buffer{0.5, 0.75, 1.25}, 3);
  EXPECT_GRADIENT(swapped, 0.7, 1.3);
  EXPECT_GRADIENT(changed_in_calls, 0.7, 1.3);
  EXPECT_GRADIENT(through_references, 0.7, 1.3);
  EXPECT_GRADIENT_IN_PLACE(overwritten_parameters, 0.7, buffer{1.3, 0.4});
  EXPECT_GRADIENT(integers_behind_a_pointer, 0.7, 4);
}

double two_names(double& a, double& b) {
  double s = a * b;
  a = s * b;
  double t = a * b;
  b = t * s;
  return a * b + t;
}
double two_arrays(double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = b[i] * b[n - 1 - i];
    s += a[i] * b[i];
  }
  return s;
}
TEST(PutBack, ArgumentsMayBeTheSame) {
  auto g = clad::gradient(two_names);
  double x = 1.2, d_x = 0;
  g.execute(x, x, &d_x, &d_x);
  auto f = [](std::vector<double> v) { return two_names(v[0], v[0]); };
  EXPECT_NEAR(d_x, slope(f, {1.2}, 0), 1e-6);
  EXPECT_EQ(x, 1.2);

  auto h = clad::gradient(two_arrays, "a, b");
  std::vector<double> v{0.5, 1.5, 0.75}, d(3);
  h.execute(v.data(), v.data(), 3, d.data(), d.data());
  auto same = [](std::vector<double> u) { return two_arrays(u.data(), u.data(), 3); };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(d[i], slope(same, {0.5, 1.5, 0.75}, i), 1e-6);
  EXPECT_EQ(v, (std::vector<double>{0.5, 1.5, 0.75}));
}

}  // namespace
