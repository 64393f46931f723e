// What the analyses must see: that they leave things out is measured elsewhere, that they leave out nothing
// which is needed is tested here.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;

namespace {

// Loops whose counter runs backwards.

double counts_up(const double* p, int first, int n) {
  double s = 1;
  for (int i = first; i < n; ++i) s = s * p[i] + std::sin(s);
  return s;
}
TEST(Counted, LoopsMayRunNoTimes) {
  EXPECT_GRADIENT(counts_up, buffer{0.5, 1.5, 0.75}, 0, 3);
  EXPECT_GRADIENT(counts_up, buffer{0.5, 1.5, 0.75}, 2, 3);
  EXPECT_GRADIENT(counts_up, buffer{0.5, 1.5, 0.75}, 3, 3);
  EXPECT_GRADIENT(counts_up, buffer{0.5, 1.5, 0.75}, 2, -5);
}

double up_to_and_including(const double* p, int n) {
  double s = 1;
  for (int i = 0; i <= n; ++i) s = s * p[i] + p[i];
  for (int i = 1; i + 1 <= n; ++i) s *= p[i - 1];
  for (int i = 0; n > i; i++) s *= p[i] + p[i + 1];
  return s;
}
double downwards(const double* p, int n) {
  double s = 1;
  for (int i = n - 1; i >= 0; --i) s = s * p[i] + p[i];
  for (int i = n - 1; i > 0; i--) s = s * p[i] + p[i - 1];
  for (int i = n; i != 0; --i) s = s * p[i - 1];
  for (int i = n; i - 1 >= 0; --i) s = s * p[i - 1];
  return s;
}
double in_strides(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; i += 2) s = s * p[i] + 1;
  for (int i = 1; i <= n - 1; i += 3) s = s * p[i] + 1;
  for (int i = n - 1; i >= 0; i -= 2) s = s * p[i] + 1;
  for (unsigned i = 0; i < static_cast<unsigned>(n); i += 3) s = s * p[i] + 1;
  return s;
}
double unsigned_counters(const std::vector<double>& p) {
  double s = 1;
  for (std::size_t i = 0; i < p.size(); ++i) s = s * p[i] + 1;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) s = s * p[i] + p[i + 1];
  for (std::size_t i = p.size(); i > 0; --i) s = s * p[i - 1] + 1;
  for (std::size_t i = p.size(); i-- > 0;) s = s * p[i] + 1;
  for (int i = 0; i < static_cast<int>(p.size()) - 1; ++i) s = s * p[i] + p[i + 1];
  for (unsigned i = 0; i < p.size(); ++i) s = s * p[i] + 1;
  for (int i = 0; i < p.size(); ++i) s = s * p[i] + 1;
  return s;
}
/// -1 is no less than any unsigned number: no iteration.
double signed_against_unsigned(const std::vector<double>& p, int first) {
  double s = p[0];
  for (int i = first; i < p.size(); ++i) s = s * p[0] + 1;
  unsigned n = 2;
  for (int i = -1; i < n; ++i) s = s * p[0] + 1;
  return s;
}
double unsigned_against_negative(double x, long n) {
  double s = x;
  for (unsigned i = 0; i < n; ++i) s = s * x + 1;
  return s;
}
TEST(Counted, EveryWayToWriteTheCondition) {
  EXPECT_GRADIENT(up_to_and_including, buffer{0.5, 1.5, 0.75, 1.25}, 3);
  EXPECT_GRADIENT(up_to_and_including, buffer{0.5, 1.5}, 0);
  EXPECT_GRADIENT(downwards, buffer{0.5, 1.5, 0.75, 1.25}, 4);
  EXPECT_GRADIENT(downwards, buffer{0.5, 1.5}, 0);
  for (int n = 0; n < 8; ++n)
    EXPECT_GRADIENT(in_strides, buffer{0.5, 1.5, 0.75, 1.25, 0.6, 0.9, 1.1, 1.2}, n);
  EXPECT_GRADIENT(unsigned_counters, std::vector<double>{0.5, 1.5, 0.75});
  EXPECT_GRADIENT(unsigned_counters, std::vector<double>{0.5});
  EXPECT_GRADIENT(unsigned_counters, std::vector<double>{});
  EXPECT_GRADIENT(signed_against_unsigned, std::vector<double>{0.5, 1.5}, -1);
  EXPECT_GRADIENT(signed_against_unsigned, std::vector<double>{0.5, 1.5}, 1);
  EXPECT_GRADIENT(unsigned_against_negative, 0.5, -1L);
  EXPECT_GRADIENT(unsigned_against_negative, 0.5, 3L);
}

double bound_changes_inside(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    s = s * x + 1;
    if (i == 1) n -= 2;
  }
  return s;
}
double bound_changes_after(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) s = s * x + 1;
  n = 1;
  for (int i = 0; i < n; ++i) s = s * s;
  return s * n;
}
double counter_changes_inside(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    s = s * x + i;
    if (i == 1) i += 2;
  }
  return s;
}
double counter_changes_through_a_reference(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    int& k = i;
    s = s * x + k;
    k += 1;
  }
  return s;
}
void skip(int& i) { i += 1; }
double counter_changes_in_a_call(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    s = s * x + i;
    skip(i);
  }
  return s;
}
double first_changes_inside(double x, int first, int n) {
  double s = x;
  int start = first;
  for (int i = start; i < n; ++i) {
    s = s * x + start;
    ++start;
  }
  return s;
}
double bound_behind_a_reference(double& x, const int& n, int* m) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    s = s * x + 1;
    if (i == 0) *m = 2;
  }
  return s;
}
double bound_in_a_table(const double* p, const int* rows, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double t = 1;
    for (int j = rows[i]; j < rows[i + 1]; ++j) t *= p[j];
    s += t * t;
  }
  return s;
}
double bound_grows(std::vector<double> v) {
  for (std::size_t i = 0; i < v.size() && v.size() < 5; ++i) v.push_back(v[i] * v[i]);
  for (std::size_t i = 0; i < v.size(); ++i)
    if (i == 1) v.push_back(v[0] * v[1]);
  double s = 0;
  for (double e : v) s += e * e;
  return s;
}
double leaves_early(const double* p, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) {
    if (p[i] < 0) break;
    if (p[i] > 2) continue;
    s = s * p[i] + 1;
  }
  for (int i = 0; i < n; ++i) {
    s *= 1.5;
    if (p[i] > 2) return s * s;
  }
  return s;
}
TEST(Counted, WhatTheLoopChangesIsNoBound) {
  EXPECT_GRADIENT(bound_changes_inside, 0.5, 5);
  EXPECT_GRADIENT(bound_changes_after, 0.5, 3);
  EXPECT_GRADIENT(counter_changes_inside, 0.5, 6);
  EXPECT_GRADIENT(counter_changes_through_a_reference, 0.5, 5);
  EXPECT_GRADIENT(counter_changes_in_a_call, 0.5, 5);
  EXPECT_GRADIENT(first_changes_inside, 0.5, 1, 4);
  EXPECT_GRADIENT(bound_in_a_table, buffer{0.5, 1.5, 0.75, 1.25}, buffer<int>{0, 2, 2, 4}, 3);
  EXPECT_GRADIENT(bound_grows, std::vector<double>{0.5, 1.25});
  EXPECT_GRADIENT(leaves_early, buffer{0.5, 1.5, 3.0, 0.7}, 4);
  EXPECT_GRADIENT(leaves_early, buffer{0.5, -1.5, 0.7}, 3);
}
TEST(Counted, ABoundMayBeChangedThroughAnotherName) {
  auto g = clad::gradient(bound_behind_a_reference, "x");
  double x = 0.5, d_x = 0;
  int n = 4;
  g.execute(x, n, &n, &d_x);
  EXPECT_DOUBLE_EQ(d_x, 3 * x * x + 1);  // of (x * x + 1) * x + 1
  EXPECT_EQ(n, 4);
}

double nested(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      for (int k = n - 1; k > j; --k) s = s * 0.5 + p[i] * p[j] * p[k];
  return s;
}
TEST(Counted, BoundsMayBeCountersOfOtherLoops) {
  EXPECT_GRADIENT(nested, buffer{0.5, 1.5, 0.75, 1.25}, 4);
  EXPECT_GRADIENT(nested, buffer{0.5, 1.5, 0.75, 1.25}, 1);
}

// Values that are put back only where something reads them.

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
/// Against differences of the function, called the same way.
template <class F>
double slope(F f, std::vector<double> x, std::size_t i) {
  const double h = 1e-6;
  std::vector<double> up = x, down = x;
  up[i] += h;
  down[i] -= h;
  return (f(up) - f(down)) / (2 * h);
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

// Iterations that are computed again instead of kept.

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
