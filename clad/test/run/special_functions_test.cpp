// The mathematical special functions of <cmath>, the Bessel functions of the C library, and its functions by
// other names.
#include <cmath>
#include <cstring>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::Agreement;

double gammas(double x, double y) { return std::beta(x, y) + std::lgamma(x * y) * std::tgamma(x); }
TEST(SpecialFunctions, Gamma) { EXPECT_DERIVATIVES(gammas, 1.3, 0.7); }

#ifdef __GLIBC__
double bessel(double x, double y) {
  return j0(x * y) + j1(x) * y0(y) + y1(x) + jn(3, x) * yn(2, y) + jn(0, x) * jn(1, y);
}
TEST(SpecialFunctions, BesselOfTheCLibrary) { EXPECT_DERIVATIVES(bessel, 1.3, 0.7); }
double at_zero(double x) { return j0(x) + 2 * j1(x); }
TEST(SpecialFunctions, BesselAtZero) {
  EXPECT_EQ(1, clad::differentiate(at_zero, "x").execute(0));
  EXPECT_EQ(-0.5, clad::differentiate<2>(at_zero, "x").execute(0));
}
double other_names(double x, double y) {
  double s, c;
  sincos(x * y, &s, &c);
  return s * c + s + exp10(0.3 * x * y);
}
TEST(SpecialFunctions, SinesWithCosinesAndPowersOfTen) { EXPECT_DERIVATIVES(other_names, 1.3, 0.7); }
float in_float(float x, float y) {
  float s, c, whole;
  int exponent;
  sincosf(x * y, &s, &c);
  return s * c + frexpf(x, &exponent) * y + modff(x * y / 2 + 3, &whole);
}
TEST(SpecialFunctions, ThatGiveTwoFloats) {
  EXPECT_GRADIENT_WITHIN((Agreement{1e-3L, 0.03125L}), in_float, 1.25f, 0.75f);
}
#endif

double spherical(double x, double y) {
  return std::sph_bessel(2, x) * std::sph_neumann(1, y) + std::sph_bessel(0, x * y) * std::sph_neumann(0, x);
}
TEST(SpecialFunctions, SphericalBessel) { EXPECT_DERIVATIVES(spherical, 1.3, 0.7); }
double integral(double x, double y) { return std::expint(x * y) * y; }
TEST(SpecialFunctions, ExponentialIntegral) { EXPECT_DERIVATIVES(integral, 1.3, 0.7); }

double polynomials(double x, double y) {
  return std::legendre(5, 0.4 * x) * std::legendre(0, y) + std::legendre(1, y) * std::legendre(4, y) +
         std::hermite(4, x) * std::laguerre(3, y) + std::hermite(0, x) + std::laguerre(0, y) +
         std::assoc_laguerre(3, 2, x * y);
}
TEST(SpecialFunctions, OrthogonalPolynomials) { EXPECT_DERIVATIVES(polynomials, 1.3, 0.7); }
double legendre(double x) { return std::legendre(3, x); }
TEST(SpecialFunctions, LegendreAtTheEnds) {  // (5 x^3 - 3 x) / 2
  for (const double x : {-1.0, 1.0}) {
    EXPECT_DOUBLE_EQ(6, clad::differentiate(legendre, "x").execute(x));
    EXPECT_DOUBLE_EQ(15 * x, clad::differentiate<2>(legendre, "x").execute(x));
  }
}

double complete(double x, double y) {
  return std::comp_ellint_1(0.3 * x * y) + std::comp_ellint_2(0.5 * x) * y;
}
double incomplete(double x, double y) { return std::ellint_1(0.5 * y, x) * std::ellint_2(0.5 * x, y); }
double turned(double x, double y) {  // by more than half a turn
  return std::ellint_1(0.5 * y, 3 * x) + std::ellint_2(0.5 * y, -5 * x);
}
double circle(double x, double y) { return std::comp_ellint_1(x) * y - 2 * std::comp_ellint_2(x); }
TEST(SpecialFunctions, EllipticIntegrals) {
  EXPECT_DERIVATIVES(complete, 1.3, 0.7);
  EXPECT_DERIVATIVES(incomplete, 1.3, 0.7);
  EXPECT_DERIVATIVES(turned, 1.3, 0.7);
  double h[4] = {};
  clad::hessian(circle).execute(0, 1, h);
  EXPECT_NEAR(std::acos(-1.0) * (0.25 + 0.5), h[0], 1e-13);
}
long double in_long_double(long double x) { return std::ellint_1(0.5L * x, x) + std::comp_ellint_2(x / 2); }
TEST(SpecialFunctions, LongDoubles) { EXPECT_GRADIENT(in_long_double, 0.6L); }

double builtins(double x, double y) {
  double a[3] = {x, y, x * y}, b[3];
  __builtin_memcpy(b, a, sizeof a);
  return __builtin_sin(x) * __builtin_exp(y) + __builtin_fabs(-x) * __builtin_sqrt(y) + __builtin_pow(x, y) +
         __builtin_fma(x, y, x) + __builtin_hypot(x, y) + b[0] * b[1] * b[2];
}
TEST(SpecialFunctions, NamesOfTheCompiler) { EXPECT_DERIVATIVES(builtins, 1.3, 0.7); }

}  // namespace
