// Exceptions on the paths that are not taken, and those that are.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double guarded(double x, double y) {
  if (x < 0) throw std::invalid_argument("negative: " + std::to_string(x));
  return std::sqrt(x) * y;
}

double quotient(double a, double b) { return b == 0 ? throw std::domain_error("division by zero") : a / b; }
double in_a_loop(double x, double y) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (sum > 1e6) throw i;
    x *= 1.1;
    sum += quotient(x, y + i) * sum + x;
  }
  return sum;
}

enum class Kind { Sum, Product };
double by_kind(Kind kind, double x, double y) {
  switch (kind) {
    case Kind::Sum:
      return x + y;
    case Kind::Product:
      return x * y;
    default:
      throw std::logic_error("no such kind");
  }
}
double kinds(double x, double y) { return by_kind(Kind::Product, x, y) * by_kind(Kind::Sum, x, x); }

struct Failure {
  double residual = 0;
  int step = 0;
};
double newton(double x, double guess) {
  for (int step = 0;; ++step) {
    const double residual = guess * guess - x;
    if (residual * residual < 1e-26) return guess;
    if (step == 50) throw Failure{residual, step};
    guess -= residual / (2 * guess);
  }
}

struct Point {
  double x, y;
};
double of_class(double x, double y) {
  const Point p = x > 100 ? throw std::range_error("far") : Point{x * y, y};
  return p.x * p.y;
}

double of_an_object(double x, double y) {
  double a = x, b = y;
  int n = 0;
  (x < 0 ? throw n : a) *= y;
  (++n == 1 ? b : throw n) += a * n;
  return a * b;
}

TEST(Exceptions, PathsThatThrowLeaveTheGradientAlone) {
  EXPECT_GRADIENT(guarded, 1.5, -0.5);
  EXPECT_GRADIENT(quotient, 1.5, -0.5);
  EXPECT_GRADIENT(in_a_loop, 1.5, 2.5);
  EXPECT_GRADIENT(kinds, 1.5, 2.5);
  EXPECT_GRADIENT(newton, 2.0, 1.0);
  EXPECT_GRADIENT(of_class, 1.5, 2.5);
  EXPECT_GRADIENT(of_an_object, 1.5, 2.5);
}

TEST(Exceptions, AnExceptionLeavesTheGradientAsItLeavesTheFunction) {
  double dx = 0, dy = 0;
  EXPECT_THROW(clad::gradient(guarded).execute(-1, 2, &dx, &dy), std::invalid_argument);
  EXPECT_THROW(clad::pushforward(quotient).execute(1, 0, &dx, &dy), std::domain_error);
  EXPECT_THROW(clad::gradient(newton).execute(-1, 2, &dx, &dy), Failure);
  EXPECT_EQ(dx, 0);
  EXPECT_EQ(dy, 0);
}

// Nothing of these is needed for the derivative but what they check.
double area(double a, double b) {
  if (a < 0) throw std::domain_error("negative");
  return a * b;
}
void check(double x) { area(x, 1); }
double checked(double x, double y) {
  check(x);
  return x + y;
}
struct Spring {
  double k;
  double force(double x) const { return k > 0 ? k * x : throw std::domain_error("no spring"); }
};
double sum(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    if (p[i] < 0) throw std::domain_error("negative");
    s += p[i];
  }
  return s;
}
TEST(Exceptions, AGuardIsRunWhereNothingElseIs) {
  double d_x = 7, d_y = 7, error = 0, p[] = {1, -1}, d_p[] = {7, 7};
  EXPECT_THROW(clad::gradient(area).execute(-1, 2, &d_x, &d_y), std::domain_error);
  EXPECT_THROW(clad::gradient(checked).execute(-1, 2, &d_x, &d_y), std::domain_error);
  EXPECT_THROW(clad::estimate_error(area).execute(-1, 2, &d_x, &d_y, error), std::domain_error);
  EXPECT_THROW(clad::gradient(sum, "p").execute(p, 2, d_p), std::domain_error);
  Spring d{7};
  EXPECT_THROW(clad::gradient(&Spring::force).execute(Spring{-1}, 2., &d, &d_x), std::domain_error);
  EXPECT_EQ(7, d_x);
  EXPECT_EQ(7, d_y);
  EXPECT_EQ(7, d_p[0]);
  EXPECT_EQ(7, d.k);
}
double told(double x) {
  std::puts("told");
  return x * x;
}
TEST(Exceptions, WhatIsPrintedIsPrintedOnce) {
  double d_x = 0;
  testing::internal::CaptureStdout();
  clad::gradient(told).execute(3, &d_x);
  EXPECT_EQ("told\n", testing::internal::GetCapturedStdout());
  EXPECT_EQ(6, d_x);
}

TEST(Exceptions, SecondDerivativesThroughAGuard) {
  double hessian[4] = {};
  clad::hessian(guarded).execute(4, 3, hessian);
  EXPECT_NEAR(hessian[0], -3.0 / 32, 1e-14);
  EXPECT_NEAR(hessian[1], 0.25, 1e-14);
  EXPECT_NEAR(hessian[2], 0.25, 1e-14);
  EXPECT_NEAR(hessian[3], 0, 1e-14);
}

double handled(double x, double y) {
  double factor = 1;
  for (int i = 0; i < 3; ++i) {
    try {
      const double root = guarded(x - i, y);
      if (root > 1) return root * factor;
      factor += root * x;
    } catch (const std::bad_alloc&) {
      std::abort();
    } catch (...) {
      std::printf("out of range\n");
      throw;
    }
  }
  return factor * x;
}
TEST(Exceptions, HandlersThatDoNotRun) {
  EXPECT_GRADIENT(handled, 5.2, 0.3);
  EXPECT_GRADIENT(handled, 3.1, 0.9);
}
TEST(Exceptions, WhatAHandlerThrowsAgainLeavesTheDerivative) {
  const auto gradient = clad::gradient(handled);
  double d_x = 0, d_y = 0;
  EXPECT_THROW(gradient.execute(1.5, 0.3, &d_x, &d_y), std::invalid_argument);
  EXPECT_EQ(d_x, 0);
}

// What holds no derivatives in a class with derivatives is there only after its constructor ran.
struct Report : std::runtime_error {
  std::list<int> codes;
  double at;
  explicit Report(double v)
      : std::runtime_error("no derivative here: " + std::to_string(v)), codes{1, 2}, at(v) {}
};
double thrown_object(double x, double y) {
  if (x < 0) throw Report(x);
  return std::sqrt(x) * y;
}
double built_object(double x, double y) {
  if (x > y) return x * x * y;
  Report f(x * y);
  f.at *= f.at;
  return f.at * static_cast<double>(f.codes.size());
}
TEST(Exceptions, ObjectsThatAreNotBuilt) {
  EXPECT_GRADIENT(thrown_object, 2.3, 0.7);
  EXPECT_GRADIENT(built_object, 2.3, 0.7);
  EXPECT_GRADIENT(built_object, 0.4, 0.7);
  double hessian[4] = {};
  clad::hessian(thrown_object).execute(4, 3, hessian);
  EXPECT_NEAR(hessian[0], -3.0 / 32, 1e-14);
  EXPECT_NEAR(hessian[1], 0.25, 1e-14);
  clad::hessian(built_object).execute(2, 0.5, hessian);
  EXPECT_NEAR(hessian[0], 1, 1e-14);
  EXPECT_NEAR(hessian[2], 4, 1e-14);
  clad::hessian(built_object).execute(0.5, 2, hessian);  // 2 (x y)^2
  EXPECT_NEAR(hessian[0], 16, 1e-14);
  EXPECT_NEAR(hessian[1], 8, 1e-14);
  EXPECT_NEAR(hessian[3], 1, 1e-14);
  EXPECT_THROW(clad::hessian(thrown_object).execute(-1, 0.7, hessian), Report);
  EXPECT_THROW(clad::differentiate(thrown_object, "x").execute(-1, 0.7), Report);
}

struct Checked {
  std::vector<double> data;
  double root;
  std::list<int> log;
  explicit Checked(double x, double y) : data{x, y, x * y}, root(guarded(x, y)), log{1} {}
};
double built_in_part(double x, double y) {
  const Checked c(x, y);
  return c.root * c.data[2] * static_cast<double>(c.log.size());
}
TEST(Exceptions, AConstructorLeftByAnException) {
  EXPECT_GRADIENT(built_in_part, 2.3, 0.7);
  double d_x = 0, d_y = 0, hessian[4] = {};
  clad::hessian(built_in_part).execute(4, 3, hessian);  // x^1.5 y^2
  EXPECT_NEAR(hessian[0], 27.0 / 8, 1e-13);
  EXPECT_NEAR(hessian[1], 18, 1e-13);
  EXPECT_NEAR(hessian[3], 16, 1e-13);
  EXPECT_THROW(clad::gradient(built_in_part).execute(-1, 0.7, &d_x, &d_y), std::invalid_argument);
  EXPECT_THROW(clad::hessian(built_in_part).execute(-1, 0.7, hessian), std::invalid_argument);
  EXPECT_THROW(clad::differentiate(built_in_part, "y").execute(-1, 0.7), std::invalid_argument);
}

}  // namespace
