// Integers that clad::differentiate is asked for.
#include <cmath>
#include <span>

#include <gtest/gtest.h>

#include "clad/Differentiator/Differentiator.h"

namespace {

double square(int x) { return x * x; }
int cubic(int n) { return n * n * n + 2 * n; }
double mixed(int n, double y) {
  int t = n * 3 + 1;
  double s = y;
  for (int i = 0; i < n; ++i) {
    s += t * n * y;
    t += n;
  }
  if (n > 2) s *= std::pow(n, 2);
  ++t;
  return s + (n > 0 ? n : -n) * t / 2.0;
}
double mixed_numbers(double n, double y, int count) {
  double t = n * 3 + 1, s = y;
  for (int i = 0; i < count; ++i) {
    s += t * n * y;
    t += n;
  }
  if (n > 2) s *= std::pow(n, 2);
  ++t;
  return s + (n > 0 ? n : -n) * t / 2.0;
}
double truncated(int n) {
  const int whole = 2.5 * n;
  return whole * n;
}
struct Scaled {
  double k;
  double of(int n) const { return k * n * n; }
};
double of_a_span(int n, std::span<const double> v, double x) { return n * v[0] * x; }
double calls_of_a_span(double x) {
  const double v[2] = {x, 1};
  return of_a_span(3, v, x);
}
char letter(int n) { return n * n; }
int one_of(int n) {
  const int m = 7;
  if (n > 5) return m;
  return n * n;
}
TEST(Integers, AreNumbersToDifferentiate) {
  EXPECT_DOUBLE_EQ(clad::differentiate(square, "x").execute(3), 6);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(square, "x").execute(3), 2);
  EXPECT_DOUBLE_EQ(clad::differentiate(square, 0).execute(5), 10);
  EXPECT_DOUBLE_EQ(clad::differentiate(cubic, "n").execute(3), 29);
  EXPECT_DOUBLE_EQ(clad::differentiate(truncated, "n").execute(3), 7);
  EXPECT_DOUBLE_EQ(clad::differentiate(&Scaled::of, "n").execute(Scaled{2}, 3), 12);
  EXPECT_EQ(clad::differentiate(letter, 0).execute(3), 6);
  EXPECT_EQ(clad::differentiate(one_of, 0).execute(3), 6);
  EXPECT_EQ(clad::differentiate<2>(one_of, "n").execute(3), 2);
  EXPECT_EQ(clad::differentiate(one_of, 0).execute(6), 0);
  const auto at = [](double n) { return mixed_numbers(n, 2, 3); };
  EXPECT_NEAR(clad::differentiate(mixed, "n").execute(3, 2.), (at(3 + 1e-6) - at(3 - 1e-6)) / 2e-6, 1e-4);
  EXPECT_EQ(mixed(3, 2), at(3));
  EXPECT_DOUBLE_EQ(clad::differentiate(mixed, "y").execute(3, 2.), (1 + 3 * (10 + 13 + 16)) * 9);
  EXPECT_DOUBLE_EQ(clad::differentiate(calls_of_a_span, "x").execute(2.), 12);
}

}  // namespace
