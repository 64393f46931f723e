// Iterations that are computed again instead of kept.
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

double bump(double x) { return std::sin(x) * std::exp(-x * x) + x / (1 + x * x); }
double independent(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += bump(p[i]);
  return s;
}
double independent_and_more(const double* p, int n) {
  double s = 1, largest = 0;
  for (int i = 0; i < n; ++i) {
    double t = p[i] * p[i];
    double u = std::exp(-t) * p[0];
    if (u > 0.3) {
      double v = u * t;
      s += v * v;
    } else {
      s -= std::sqrt(u + 1);
    }
    largest = std::max(largest, u);
  }
  return s * s + largest;
}
double carried(const double* p, int n) {
  double s = 1, before = 0;
  for (int i = 0; i < n; ++i) {
    double t = p[i] * before;
    s += t * t;
    before = p[i] * p[i];
  }
  return s;
}
double inner_iterations(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double a[3] = {1, 0.5, 0.25};
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      double d = p[i] - p[j];
      double w = 1 / std::sqrt(d * d + 0.1);
      a[j % 3] += w * d;
    }
    double y = 0;
    int k = 0;
    while (k < 5) {
      y = y * 0.5 + a[k % 3] * a[k % 3] + 0.5;
      ++k;
    }
    s += y * a[0] * k;
  }
  return s;
}
double changes_what_it_reads(double* p, int n) {
  double s = 0;
  for (int i = 0; i + 1 < n; ++i) {
    double t = p[i] * p[i + 1];
    double u = t * t;
    p[i + 1] = u;
    s += u * t;
  }
  return s;
}
double writes_elsewhere(const double* p, double* q, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = p[i] * p[i];
    double u = std::sin(t);
    q[n - 1 - i] = u * t;
    s += q[n - 1 - i] * u;
  }
  return s;
}
double local_results(const double* p, int n) {
  std::vector<double> y(n);
  for (int i = 0; i < n; ++i) {
    double t = std::sin(p[i]);
    double u = t * p[n - 1 - i];
    y[i] = u * u;
  }
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = y[i] * y[n - 1 - i];
    s += t * t;
  }
  y[0] = s;
  return y[0] * y[0];
}
double changed_before_and_after(const double* p, int n) {
  double k = p[0];
  k = k * k;
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = k * p[i];
    s += std::sin(t) * t;
  }
  k = s * k;
  for (int i = 0; i < n; ++i) {
    double t = k + p[i];
    double u = 0.1 * t * t;
    s += u * t;
  }
  k = 1;
  return s * k;
}
double counts_along(const double* p, int n) {
  int k = 0;
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = p[k] * p[k];
    s += t * t;
    k += 1;
  }
  return s * k;
}
void fill(double* a, double x) {
  a[0] = x * x;
  a[1] = a[0] * x;
}
double fills_its_own(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double a[2] = {0, 0};
    fill(a, p[i]);
    double t = a[0] * a[1];
    s += t * t;
  }
  return s;
}
double structs_inside(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    std::vector<double> v{p[i], p[i] * p[0]};
    v.push_back(v[0] * v[1]);
    std::array<double, 2> w{v[2] * v[0], v[1]};
    s += w[0] * w[1] * v[2];
  }
  return s;
}
TEST(Replayed, Iterations) {
  for (const auto& p : {buffer{0.5, 0.75, 1.25, 0.3}, buffer{0.8, 0.25, 0.6, 0.9}}) {
    for (int n : {0, 1, 4}) {
      EXPECT_GRADIENT(independent, p, n);
      EXPECT_GRADIENT(independent_and_more, p, n);
      EXPECT_GRADIENT(carried, p, n);
      EXPECT_GRADIENT(inner_iterations, p, n);
      EXPECT_GRADIENT_IN_PLACE(changes_what_it_reads, p, n);
      EXPECT_GRADIENT_IN_PLACE(writes_elsewhere, p, p, n);
      if (n > 0) EXPECT_GRADIENT(local_results, p, n);
      EXPECT_GRADIENT(changed_before_and_after, p, n);
      EXPECT_GRADIENT(counts_along, p, n);
      EXPECT_GRADIENT(fills_its_own, p, n);
      EXPECT_REVERSE_GRADIENT(structs_inside, p, n);
    }
  }
}
TEST(Replayed, WhatIsReadMayBeWrittenUnderAnotherName) {
  auto g = clad::gradient(writes_elsewhere, "p, q");
  std::vector<double> v{0.5, 1.5, 0.75, 0.6}, d(4), before = v;
  g.execute(v.data(), v.data(), 4, d.data(), d.data());
  auto same = [](std::vector<double> u) { return writes_elsewhere(u.data(), u.data(), 4); };
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(d[i], slope(same, before, i), 1e-6);
  EXPECT_EQ(v, before);
}
TEST(Replayed, WithTheValueAndInHessians) {
  auto g = clad::value_and_gradient(independent_and_more, "p");
  const double p[] = {0.5, 0.75, 1.25, 0.3};
  double d[4] = {}, expected[4] = {};
  EXPECT_EQ(g.execute(p, 4, d), independent_and_more(p, 4));
  clad::gradient(independent_and_more, "p").execute(p, 4, expected);
  for (int i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(d[i], expected[i]);

  double h[16] = {};
  clad::hessian(independent_and_more, "p[0:3]").execute(p, 4, h);
  for (int i = 0; i < 4; ++i) {
    double up[4], down[4], d_up[4] = {}, d_down[4] = {};
    for (int j = 0; j < 4; ++j) up[j] = down[j] = p[j];
    up[i] += 1e-5;
    down[i] -= 1e-5;
    auto first = clad::gradient(independent_and_more, "p");
    first.execute(up, 4, d_up);
    first.execute(down, 4, d_down);
    for (int j = 0; j < 4; ++j) EXPECT_NEAR(h[4 * i + j], (d_up[j] - d_down[j]) / 2e-5, 1e-6);
  }
}
int calls = 0;
double counted_call(double x) {
  ++calls;
  return x * x;
}
double with_effects(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = counted_call(p[i]);
    s += t * t;
  }
  return s;
}
TEST(Replayed, NothingThatHasAnEffect) {
  const double p[] = {0.5, 0.75, 1.25};
  double d[3] = {};
  clad::gradient(with_effects, "p").execute(p, 3, d);
  EXPECT_EQ(calls, 3);
  EXPECT_DOUBLE_EQ(d[2], 4 * 1.25 * 1.25 * 1.25);
}
double scale = 2;
double scaled(double x) { return x * scale * x; }
double by_a_global(double x) {
  double s = 0;
  for (int i = 0; i < 2; ++i) {
    double t = scaled(x);
    s += t * t;
  }
  return s;
}
double changes_a_global(double x) {
  double s = by_a_global(x);
  return s;
}
TEST(Replayed, NothingThatReadsAGlobal) {
  auto g = clad::gradient(changes_a_global);
  double d = 0;
  g.execute(1.5, &d);
  EXPECT_DOUBLE_EQ(d, 2 * 4 * 4 * 1.5 * 1.5 * 1.5);
}

}  // namespace
