// Derivatives of second and third order in one direction, which have equal tangents of both steps: in
// functions where a careless merge of the two would read one too early or too late.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "clad/Differentiator/Differentiator.h"

namespace {

double chain(double x) {
  double a[6];
  a[0] = x;
  for (int i = 1; i < 6; ++i) {
    a[i] = std::sin(a[i - 1] * x) + 0.3;
    a[i] *= a[i - 1];
  }
  return a[5] * a[3];
}

double by_their_values(double x) {
  double v = x;
  v = std::exp(0.5 * v);
  v = std::tanh(v) * v;
  v = std::sqrt(v + x);
  double w = std::exp(v);
  v *= w;
  w = std::tanh(w * 0.1) + v;
  return v * w;
}

double carried(double x) {
  double s = 1, t = x, old = 0;
  for (int i = 0; i < 5; ++i) {
    old = s;
    s = s * t + 1 / (1 + old * old);
    t = t * 0.5 + 0.1 * old;
  }
  return s * t + old;
}

double swapped(double x) {
  double a = x * x, b = std::cos(x);
  for (int i = 0; i < 4; ++i) {
    std::swap(a, b);
    a = a * b + x;
    const double c = a;
    a = b;
    b = c * 0.3;
  }
  return a * b;
}

double through_names(double x) {
  double a[3] = {x, x * x, 1};
  double& r = a[1];
  r = r * x + a[0];
  double* p = a + 2;
  *p = r * a[0];
  *p *= *p;
  for (double& one : a) one = one * one + 0.2 * x;
  return a[0] * a[1] + a[2];
}

void cube(double& v) { v = v * v * v; }
double twice(double v, double* kept) {
  *kept += v;
  return 2 * v + *kept;
}
double in_callees(double x) {
  double v = x + 0.4, kept = x;
  cube(v);
  const double w = twice(v * x, &kept);
  cube(kept);
  return w * v + 0.1 * kept;
}

double chosen(double x) {
  double y = x, z = 0;
  for (int i = 0; i < 6; ++i) {
    if (y > 2) {
      y = y / (1 + x);
      z += y * y;
      if (z > 9) return z * y;
    } else {
      y = y * x + 1;
      continue;
    }
    y += 0.1 * z;
  }
  return y > 1 ? y * z : y + x * x;
}

struct State {
  double at, speed;
  std::array<double, 2> more;
};
double in_objects(double x) {
  State s{x, 1, {x * x, 2}};
  State t = s;
  for (int i = 0; i < 4; ++i) {
    t.speed = s.speed - 0.3 * s.at * s.more[1];
    t.at = s.at + 0.2 * t.speed * x;
    t.more[i % 2] = t.at * s.more[0];
    s = t;
  }
  return s.at * s.speed + s.more[0] * s.more[1];
}

double in_containers(double x) {
  std::vector<double> v(3, x), w;
  std::array<double, 3> a{x, 2, x * x};
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = v[i] * a[i] + 1;
    w.push_back(v[i] * x);
    a[2 - i] = w.back() * 0.1;
  }
  double s = 0;
  for (const double one : w) s += one * one;
  return s * a[0];
}

double running(double x) {
  double s = 0, before = x, power = 1;
  int i = 0;
  while (i < 8) {
    power *= before;
    before = s;
    s += power / ++i;
    if (s > 30) break;
    before += x;
  }
  return s * before;
}

double unequal(double x, double c) {
  double a = x, b = x;  // equal in value and tangent until the loop
  for (int i = 0; i < 3; ++i) {
    a = a * b;
    b = a * b * c;
  }
  return a - b * x;
}

template <class First, class Second, class Third>
void check(double (*f)(double), First first, Second second, Third third) {
  const double h = 1e-5;
  const auto slope = [&](auto g, double x) { return (g(x + h) - g(x - h)) / (2 * h); };
  for (const double x : {0.6, 0.9, 1.3}) {
    const auto one = [&](double at) { return first.execute(at); };
    const auto two = [&](double at) { return second.execute(at); };
    const double expected = slope(f, x), expected_2 = slope(one, x), expected_3 = slope(two, x);
    EXPECT_NEAR(first.execute(x), expected, 1e-7 * (1 + std::fabs(expected))) << x;
    EXPECT_NEAR(second.execute(x), expected_2, 1e-7 * (1 + std::fabs(expected_2))) << x;
    EXPECT_NEAR(third.execute(x), expected_3, 1e-6 * (1 + std::fabs(expected_3))) << x;
  }
}
#define CHECK_ORDERS(f) \
  check(f, clad::differentiate(f, "x"), clad::differentiate<2>(f, "x"), clad::differentiate<3>(f, "x"))

TEST(EqualTangents, OfArraysThatAreChangedInPlace) { CHECK_ORDERS(chain); }
TEST(EqualTangents, OfFunctionsWithDerivativesByValue) { CHECK_ORDERS(by_their_values); }
TEST(EqualTangents, OfWhatALoopCarries) { CHECK_ORDERS(carried); }
TEST(EqualTangents, OfSwappedNumbers) { CHECK_ORDERS(swapped); }
TEST(EqualTangents, OfNumbersWithSeveralNames) { CHECK_ORDERS(through_names); }
TEST(EqualTangents, OfWhatCalleesChange) { CHECK_ORDERS(in_callees); }
TEST(EqualTangents, OfBranches) { CHECK_ORDERS(chosen); }
TEST(EqualTangents, OfObjects) { CHECK_ORDERS(in_objects); }
TEST(EqualTangents, OfContainers) { CHECK_ORDERS(in_containers); }
TEST(EqualTangents, OfLoopsThatBreak) { CHECK_ORDERS(running); }

TEST(EqualTangents, DoNotMergeThePrimalsThatAreEqualForAWhile) {
  const auto f = [](double x) { return unequal(x, 0.7); };
  const auto first = clad::differentiate(unequal, "x");
  const auto second = clad::differentiate<2>(unequal, "x");
  const double h = 1e-5, x = 1.1;
  EXPECT_NEAR(first.execute(x, 0.7), (f(x + h) - f(x - h)) / (2 * h), 1e-7);
  EXPECT_NEAR(second.execute(x, 0.7), (first.execute(x + h, 0.7) - first.execute(x - h, 0.7)) / (2 * h),
              1e-5);
}

double network(double x, const double* w) {
  double hidden[4], out = 0;
  int next = 0;
  for (int i = 0; i < 4; ++i) {
    hidden[i] = std::tanh(w[next] * x + w[next + 1]);
    next += 2;
  }
  for (int i = 0; i < 4; ++i) out += w[next++] * hidden[i];
  return out;
}
double curvature(double x, const double* w) {
  auto u_xx = clad::differentiate<2>(network, "x");
  const double bend = u_xx.execute(x, w);
  return bend * bend;
}
TEST(EqualTangents, AreDifferentiatedInReverse) {
  double w[12], d[12] = {};
  for (int i = 0; i < 12; ++i) w[i] = std::sin(1.7 * i + 0.3);
  clad::gradient(curvature, "w").execute(0.4, w, d);
  for (int i = 0; i < 12; ++i) {
    const double h = 1e-6, at = w[i];
    w[i] = at + h;
    const double up = curvature(0.4, w);
    w[i] = at - h;
    const double down = curvature(0.4, w);
    w[i] = at;
    EXPECT_NEAR(d[i], (up - down) / (2 * h), 1e-7) << i;
  }
}

}  // namespace
