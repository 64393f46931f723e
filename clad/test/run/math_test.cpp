// <cmath> and the scalar functions of <algorithm>.
#include <algorithm>
#include <cmath>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::Agreement;

#define ONE_ARGUMENT(name, point)                           \
  double of_##name(double x) { return std::name(x) * 1.5; } \
  TEST(Math, name) {                                        \
    EXPECT_GRADIENT(of_##name, point);                      \
    EXPECT_GRADIENT(of_##name, point + 0.125);              \
  }
ONE_ARGUMENT(sin, 0.4)
ONE_ARGUMENT(cos, 0.4)
ONE_ARGUMENT(tan, 0.4)
ONE_ARGUMENT(asin, -0.4)
ONE_ARGUMENT(acos, 0.4)
ONE_ARGUMENT(atan, -2.4)
ONE_ARGUMENT(sinh, 0.4)
ONE_ARGUMENT(cosh, -0.4)
ONE_ARGUMENT(tanh, 0.4)
ONE_ARGUMENT(asinh, 0.4)
ONE_ARGUMENT(acosh, 2.4)
ONE_ARGUMENT(atanh, 0.4)
ONE_ARGUMENT(exp, -1.4)
ONE_ARGUMENT(exp2, 1.4)
ONE_ARGUMENT(expm1, 0.4)
ONE_ARGUMENT(log, 0.4)
ONE_ARGUMENT(log2, 3.4)
ONE_ARGUMENT(log10, 0.4)
ONE_ARGUMENT(log1p, -0.4)
ONE_ARGUMENT(sqrt, 0.4)
ONE_ARGUMENT(cbrt, 0.4)
ONE_ARGUMENT(erf, 0.4)
ONE_ARGUMENT(erfc, 0.4)
ONE_ARGUMENT(fabs, -0.4)
ONE_ARGUMENT(abs, -0.4)
ONE_ARGUMENT(floor, 0.4)
ONE_ARGUMENT(ceil, 0.4)
ONE_ARGUMENT(round, 0.3)
ONE_ARGUMENT(trunc, -1.4)
ONE_ARGUMENT(rint, 0.3)
ONE_ARGUMENT(nearbyint, 0.3)
ONE_ARGUMENT(logb, 1.3)
ONE_ARGUMENT(tgamma, 1.7)
ONE_ARGUMENT(lgamma, 2.3)

#define TWO_ARGUMENTS(name)                                              \
  double of_##name(double x, double y) { return std::name(x, y) * 1.5; } \
  TEST(Math, name) {                                                     \
    EXPECT_GRADIENT(of_##name, 1.3, 0.7);                                \
    EXPECT_GRADIENT(of_##name, 0.6, 1.7);                                \
  }
TWO_ARGUMENTS(pow)
TWO_ARGUMENTS(atan2)
TWO_ARGUMENTS(hypot)
TWO_ARGUMENTS(remainder)
TWO_ARGUMENTS(beta)
TWO_ARGUMENTS(fmod)
TWO_ARGUMENTS(fmax)
TWO_ARGUMENTS(fmin)
TWO_ARGUMENTS(fdim)
TWO_ARGUMENTS(copysign)
TWO_ARGUMENTS(max)
TWO_ARGUMENTS(min)

double mixed_pow(double x, int n) {
  return std::pow(x, n) + std::pow(x, 3) + std::pow(2, x) + std::pow(2.5, x);
}
TEST(Math, PowWithIntegers) {
  EXPECT_GRADIENT(mixed_pow, 1.3, -3);
  EXPECT_GRADIENT(mixed_pow, 0.3, 0);
}
double differences(double x, double y) { return pow(y - x, 2.0) * x + std::pow(x - 2 * y, 3.0); }
TEST(Math, PowersOfNegativeNumbersHaveSecondDerivatives) { EXPECT_DERIVATIVES(differences, 1.3, 0.7); }
double square_at_zero(double x) { return std::pow(x, 2) + std::pow(x, 1) + std::pow(x, 0); }
TEST(Math, PowAtZeroIsFinite) { EXPECT_GRADIENT(square_at_zero, 0.0); }

double three(double x, double y, double z) {
  return std::fma(x, y, z) * std::clamp(x, y, z) + std::clamp(x + y, y, 2 * z);
}
TEST(Math, FmaAndClamp) {
  EXPECT_GRADIENT(three, 1.3, 0.7, 2.1);
  EXPECT_GRADIENT(three, 0.3, 0.7, 2.1);
  EXPECT_GRADIENT(three, 3.3, 0.7, 2.1);
}

double with_constants(double x) {
  return std::max(x, 2.0) * x + std::min(0.5, x) + std::max<double>(x, 1) + std::clamp(x * 2, 0.0, 9.0) +
         std::max(std::max(x, 0.1), x * x);
}
TEST(Math, ConstantsBesideActiveArguments) {
  EXPECT_GRADIENT(with_constants, 1.3);
  EXPECT_GRADIENT(with_constants, 2.3);
}

double global_names(double x) { return sqrt(x) + ::sin(x) * exp(x) + pow(x, 2.5) + fabs(-x) + ::tanh(x); }
TEST(Math, NamesOfTheCLibrary) { EXPECT_GRADIENT(global_names, 1.3); }

double of_integers(double x, int n) {
  return std::sqrt(n + 5) * x + std::abs(n) * x + std::max(n, 2) * x + std::isnan(x) * x +
         std::lround(x) * x + std::min({1, 2, n}) * x + std::signbit(x) * x;
}
TEST(Math, IntegerArgumentsAndResults) { EXPECT_GRADIENT(of_integers, 1.3, -3); }

float in_float(float x, float y) {
  return std::sin(x) * std::pow(x, y) + std::sqrt(y) * std::max(x, y) + std::pow(x, 2);
}
TEST(Math, Floats) { EXPECT_GRADIENT_WITHIN((Agreement{1e-3L, 0.03125L}), in_float, 1.25f, 0.75f); }

long double in_long_double(long double x) {
  return std::sin(x) * std::exp(x) + std::pow(x, 2.0L) * std::abs(x);
}
TEST(Math, LongDoubles) { EXPECT_GRADIENT(in_long_double, 0.6L); }

double scaled(double x) { return std::ldexp(x * x, 3) + std::scalbn(x, -1); }
double interpolated(double a, double b, double t) { return std::lerp(a, b, t) * std::hypot(a, b, t); }
double mixed(double x, int n) {
  return std::fma(x, n, 1) * std::fma(n, 2.5f, x) + std::hypot(n, x, 2) + std::lerp(n, x, 0.5f) +
         std::fmod(n, x) + std::atan2(x, n) + std::hypot(n, x) + std::fdim(n, x) + std::remainder(n, x) +
         std::fmin(n, x) + std::copysign(x, n);
}
TEST(Math, OtherSignatures) {
  EXPECT_GRADIENT(mixed, 1.3, 2);
  EXPECT_GRADIENT(mixed, 1.3, -3);
  EXPECT_GRADIENT(scaled, 1.3);
  EXPECT_GRADIENT(interpolated, 1.3, 0.4, 0.7);
}

TEST(Math, DigammaIsRightEverywhere) {
  const auto digamma = [](double x) { return clad::builtin_derivatives::digamma(x); };
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-15);
  EXPECT_NEAR(digamma(0.5), -1.9635100260214235, 1e-14);
  EXPECT_NEAR(digamma(-1.5), 0.70315664064524319, 1e-13);
  EXPECT_NEAR(digamma(100), 4.6001618527380874, 1e-14);
  double h = 0;  // trigamma(1), by differentiating the recurrence
  clad::hessian(of_lgamma).execute(1, &h);
  EXPECT_NEAR(h, 1.5 * 1.6449340668482264, 1e-12);
}

}  // namespace
double unseen(double x, int n);
namespace {
double of_unseen(double x, double y) { return unseen(x * y, 3) * y + std::cyl_bessel_j(1, x); }
TEST(Math, FunctionsWithoutABodyAreDifferentiatedByDifferences) {
  double d_x = 0, d_y = 0;
  clad::gradient(of_unseen).execute(1.3, 0.7, &d_x, &d_y);
  const double x = 1.3, y = 0.7;
  EXPECT_NEAR(d_x, 3 * x * x * y * y * y * y + std::cyl_bessel_j(0, x) - std::cyl_bessel_j(1, x) / x, 1e-9);
  EXPECT_NEAR(d_y, 4 * x * x * x * y * y * y, 1e-9);
  EXPECT_NEAR(clad::differentiate(of_unseen, "y").execute(x, y), d_y, 1e-12);
}
double of_order_zero(double x, double y) {
  return std::cyl_bessel_j(0., x) * y + std::cyl_bessel_k(0., x * y);
}
TEST(Math, DifferencesLeaveConstantsWhereTheyAre) {  // there are no orders below zero
  double d_x = 0, d_y = 0;
  clad::gradient(of_order_zero).execute(1.3, 0.7, &d_x, &d_y);
  EXPECT_NEAR(d_x, -0.7 * (std::cyl_bessel_j(1., 1.3) + std::cyl_bessel_k(1., 0.91)), 1e-9);
  EXPECT_NEAR(d_y, std::cyl_bessel_j(0., 1.3) - 1.3 * std::cyl_bessel_k(1., 0.91), 1e-9);
  EXPECT_NEAR(clad::differentiate(of_order_zero, "x").execute(1.3, 0.7), d_x, 1e-12);
  clad::differentiate<clad::opts::vector_mode>(of_order_zero).execute(1.3, 0.7, &d_x, &d_y);
  EXPECT_NEAR(d_y, std::cyl_bessel_j(0., 1.3) - 1.3 * std::cyl_bessel_k(1., 0.91), 1e-9);
}

double distance_to_a_box(double x, double y) {
  return std::hypot(std::max(x - 2, 0.0), std::max(y - 3, 0.0)) + x * y;
}

TEST(Math, HypotOfNothing) {
  EXPECT_GRADIENT(distance_to_a_box, 1.3, 0.7);
  EXPECT_GRADIENT(distance_to_a_box, 2.5, 4.0);
}

}  // namespace
