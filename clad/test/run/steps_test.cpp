// Indices that are stepped where they are read, as in x[next++]: the reverse sweep finds where they were.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;

namespace {

const buffer numbers{0.5, 1.5, 0.75, -0.25, 1.25, 0.3, 0.9, -0.6};

double one_by_one(const double* p, int n) {
  double s = 1;
  int next = 0;
  for (int i = 0; i < n; ++i) {
    s *= p[next++];
    for (int j = 0; j < 2; ++j) s += std::sin(s) * p[next++];
  }
  return s * next;
}
double backwards(const double* p, int n) {
  double s = 1;
  unsigned next = static_cast<unsigned>(n);
  while (next > 1) {
    s = s * p[--next] + 1;
    s += s * p[next--];
  }
  return s;
}
double two_in_one(const double* p, int) {
  double s = 1;
  int next = 0;
  for (int i = 0; i < 3; ++i) s += (s > 2 ? p[next++] : p[0]) * s, s *= p[next++];
  return s;
}
double counted_before(const double* p, int n) {
  double s = 1;
  int i = n;
  while (i-- > 0) s = s * p[i] + p[i];
  long k = 0;
  do s *= 1 + p[k] * p[k];
  while (k++ < n - 2);
  return s;
}
double kept_as_a_number(const double* p, int n) {
  double s = 0;
  int next = 0;
  while (next < n) {
    const int id = next++;
    s += p[id] * p[id];
    if (next < n) next++;
    s *= 1 + p[id];
  }
  return s;
}
double named_by_a_reference(const double* p, int n) {
  double s = 1;
  std::vector<double> w(p, p + n);
  int next = 0;
  for (int i = 0; i + 2 < n; ++i) {
    double& r = w[next++];
    next++;
    r *= s;
    --next;
    s += r * w[next];
  }
  return s;
}
double take(const double* p, int& next) { return p[next++]; }
double changed_elsewhere(const double* p, int n) {
  double s = 1;
  int next = 0;
  const auto more = [&] { return p[next++]; };
  for (int i = 0; i + 2 < n; i += 3) {
    const double a = p[next++], b = more();
    s += a * b * s;
    s *= take(p, next);
  }
  return s;
}
double where_it_is_written(const double* p, int n) {
  std::vector<double> stack(2 * n);
  int top = 0;
  for (int i = 0; i < n; ++i) stack[top++] = p[i] * p[i];
  double s = 1;
  while (top > 1) {
    const double a = stack[--top], b = stack[--top];
    stack[top++] = a * b + s;
    s += stack[top - 1];
  }
  return s;
}
double in_a_branch(const double* p, int n) {
  double s = 1;
  int next = 0;
  for (int i = 0; i < n; ++i) {
    if (p[next] > 0.4) {
      s *= p[next++];
    } else {
      s += p[next++] * p[i];
    }
    if (s > 100) break;
  }
  return s;
}

TEST(Steps, AreTakenBackBeforeTheyAreRead) {
  EXPECT_GRADIENT(one_by_one, numbers, 2);
  EXPECT_GRADIENT(backwards, numbers, 7);
  EXPECT_GRADIENT(two_in_one, numbers, 8);
  EXPECT_GRADIENT(counted_before, numbers, 8);
  EXPECT_GRADIENT(kept_as_a_number, numbers, 8);
  EXPECT_GRADIENT(named_by_a_reference, numbers, 8);
  EXPECT_GRADIENT(changed_elsewhere, numbers, 8);
  EXPECT_GRADIENT(where_it_is_written, numbers, 8);
  EXPECT_GRADIENT(in_a_branch, numbers, 8);
}

}  // namespace
