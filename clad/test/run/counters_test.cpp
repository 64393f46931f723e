// Loops whose counter runs backwards: that none needs what is not kept.
// That analyses leave things out is measured elsewhere; that they leave out nothing which is needed is tested
// here.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;

namespace {

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

double chosen_bounds(double x, double y) {
  double s = x, a[4] = {x, y, x, 2};
  const int n = 3, m = x > 1;
  for (int i = 0; i < (x > 1 ? 2 : 3); ++i) s += a[i] * a[i] * y;
  for (int i = 0; i < (m ? n : 1); ++i) {
    s *= a[i];
    a[i] *= 2;
  }
  for (int i = 0; i < (m & 1) + 1; ++i) s += std::sin(a[i]);
  for (int i = (m ? 3 : 1); i > (m ? 0 : -1); --i) s += std::sin(a[i]) * y;
  return s;
}
double bits_as_bounds(double x, double y) {
  double s = x, a[8] = {x, y, x, 2, 3, x, y, 1};
  const int m = 5;
  for (int i = 0; i < (m | 2); i += 2) s += std::sin(a[i]) * y;
  for (int i = (m & 1); i != (m ^ 1); ++i) s += std::exp(a[i]);
  for (int i = m && 1; i <= (m == 5 ? 4 : 2); ++i) s *= std::cos(a[i]) + y;
  return s;
}
TEST(Counters, HaveExpressionsAsBounds) {
  EXPECT_GRADIENT(chosen_bounds, 1.3, 0.7);
  EXPECT_GRADIENT(chosen_bounds, 0.7, 1.3);
  EXPECT_GRADIENT(bits_as_bounds, 0.4, 0.3);
}

double down_past_zero(double x, double y) {
  double s = x, a[4] = {x, y, x * y, 1};
  for (std::size_t i = 2; i != static_cast<std::size_t>(-1); --i) s += x * y;
  for (unsigned i = 2; i != -1U; --i) s = std::sin(s * x) + a[i];
  for (std::size_t i = 3; i != std::string::npos; i--) a[i] = a[i] * a[0] + s;
  for (auto i = 1ULL; i != std::numeric_limits<unsigned long long>::max(); --i) s *= a[i] + a[i + 1];
  return s;
}
double up_past_the_end(double x, double y) {
  double s = x;
  const std::size_t start = 4294967294U;
  for (unsigned i = 4294967294U; i != 3; ++i) s += x * y;
  for (unsigned i = start; i != 3; ++i) s = std::sin(s * y) + x * (i % 7);
  for (unsigned i = 4294967290U; i != -1; ++i) s = std::sin(s * y) + x;
  return s;
}
double not_from_zero(double x, double y) {
  double s = x;
  const unsigned n = 4;
  for (unsigned i = 1; i != n; ++i)
    for (unsigned j = i + 1; j != n; ++j) s = std::sin(s * y) + x * (i + j);
  return s;
}
double checkpointed_past_zero(double x, double y) {
  double s = x;
  for (unsigned i = 4; i != -1U; --i) {
    clad::checkpoint_loop(2);
    s = std::sin(s * y) + x * i;
  }
  return s;
}
TEST(Counters, MayWrapAround) {
  EXPECT_DERIVATIVES(down_past_zero, 0.3, 0.7);
  EXPECT_DERIVATIVES(up_past_the_end, 0.3, 0.7);
  EXPECT_DERIVATIVES(not_from_zero, 0.3, 0.7);
  EXPECT_GRADIENT(checkpointed_past_zero, 0.3, 0.7);
}

}  // namespace
