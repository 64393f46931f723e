// Numbers: floating types, integers that carry no derivative, mixed arithmetic, casts, literals.
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::Agreement;

double polynomial(double x, double y) { return x * x * y - y / x + 3 * (x - y) / (x + y * y) - -x; }
TEST(Scalars, ArithmeticOfDoubles) {
  EXPECT_GRADIENT(polynomial, 1.5, 0.7);
  EXPECT_GRADIENT(polynomial, -2.0, 3.0);
}

double signs(double x, double y) {
  double a = - -x;
  double b = -(-(x * y));
  double c = x - -y;
  double d = -(+(-x));
  double e = +(+x);
  bool q = !(!(x > 0));
  int n = ~(~3);
  return a * b + c * d + e * q * n - (x - (y - x)) - (x + (y - x)) / (x / y) / (x * (y / x));
}
TEST(Scalars, SignsAndParenthesesKeepTheirMeaning) { EXPECT_GRADIENT(signs, 1.3, 0.7); }

double literals(double x) {
  return x * 0.1f + x * 1e-310 * 1e300 + x * 0x1.8p3 + x * 1e300 * 1e-300 * 'a' + x * 3.14159265358979323846 +
         (double)(x * 0.1L) + x * 7u + x * 5ull + x * 0x10 + x * 0b11 + x * 1'000 + x * true;
}
TEST(Scalars, LiteralsKeepTheirValue) { EXPECT_GRADIENT(literals, 1.3); }

float in_float(float a, float b) {
  float c = a * b;
  c += a;
  c *= 2;
  return c / b - a;
}
TEST(Scalars, FloatsAgreeToTheirPrecision) {
  EXPECT_GRADIENT_WITHIN((Agreement{1e-3L, 0.0625L}), in_float, 1.5f, 0.75f);
}

long double in_long_double(long double x) { return x * x / (1 + x) - x * 0.25L; }
TEST(Scalars, LongDoublesAgree) { EXPECT_GRADIENT(in_long_double, 1.5L); }

double mixed(float a, double b, long double c) {
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    long double u = c * b;
    s += b * i + u * 2 + a;
    c += b;
    b *= c;
  }
  return s;
}
TEST(Scalars, FloatingTypesMix) {
  // Limited by the float parameter's 24 bits.
  EXPECT_GRADIENT_WITHIN((Agreement{1e-4L, 1e-3L}), mixed, 1.25f, 0.72, 1.1L);
}

double with_integers(double x, int n, unsigned char u, bool q, char c, long long z, unsigned long w) {
  double r = x * n;
  r += n / 2;
  r *= u;
  r /= 2;
  int k = n;
  k *= 3;
  k %= 4;
  k <<= 1;
  k ^= 5;
  r -= k * x;
  r = r * q + c / 3 * x + (n / 2) * x;
  z *= 2;
  u += 250;
  w -= 3;
  return r * z + u * x - !q + static_cast<double>(w) * x * (n > 2) + (n & 1 ? x : -x);
}
TEST(Scalars, IntegersAreConstants) {
  EXPECT_GRADIENT(with_integers, 1.3, 5, static_cast<unsigned char>(3), true, 'a', 2ll, 1ul);
  EXPECT_GRADIENT(with_integers, -0.3, 2, static_cast<unsigned char>(200), false, '\1', -2ll, 7ul);
}

double through_an_integer(double x) {
  int k = x;
  k += x;
  return x * k + static_cast<int>(x * 2) * x + (long)x;
}
TEST(Scalars, ConversionToAnIntegerStopsTheDerivative) { EXPECT_GRADIENT(through_an_integer, 1.3); }

double casts(double x) {
  float f = static_cast<float>(x);
  double back = double(f);
  auto wide = (long double)x;
  return back * 0 + double(wide * wide) + (double)(x) * double{x} + static_cast<const double&>(x);
}
TEST(Scalars, CastsPassTheDerivative) { EXPECT_GRADIENT(casts, 1.25); }

double as_values(double x) {
  double a = x;
  double b = a++ * 2;
  double c = --a * b;
  double d = (a += 2) * c;
  double e = (b = c = a * a) * d;
  (a = b * x) += x;
  (a *= 2) *= a;
  ++(++b);
  b += a = a * b;
  return a * b * c * d * e;
}
TEST(Scalars, AssignmentsAndIncrementsAreValues) { EXPECT_GRADIENT(as_values, 0.4); }

double self_overwriting(double s) {
  s += s * s;
  s -= s;
  s = s + 2;
  s *= s * s;
  s /= s + 1;
  s = s;
  return s;
}
double self_reusing(double s) {
  s += s * s;
  s = s * s * s;
  s -= s / (s + 1);
  s *= s;
  return s;
}
TEST(Scalars, AVariableMayBeReadWhereItIsOverwritten) {
  EXPECT_GRADIENT(self_overwriting, 0.7);
  EXPECT_GRADIENT(self_reusing, 0.7);
}

double commas(double x, double y) {
  double z = (x *= 2, y += x, x * y);
  for (int i = 0, j = 3; i < j; ++i, --j) z *= (x += 1, x);
  return z;
}
TEST(Scalars, CommaRunsItsLeftSideFirst) { EXPECT_GRADIENT(commas, 1.1, 0.7); }

const double kConstant = 3;
constexpr double kConstexpr = 2;
double variable = 4;
double constants(double x) {
  static const double kept = 2.5;
  constexpr double local = 1.5;
  const double product = x * 2;
  const double pair[2] = {x, 2};
  return x * kConstant * kConstexpr * variable * kept * local * product * pair[0];
}
double fixed(double) { return 5; }
TEST(Scalars, ConstantsAndGlobalsThatAreOnlyRead) {
  EXPECT_GRADIENT(constants, 1.1);
  EXPECT_GRADIENT(fixed, 1.1);
}

double shadowed(double x, double y, double) {
  double dead = x * y;
  dead *= 2;
  double z = x;
  z = y;
  z = z * z;
  if (false) z *= x;
  (void)dead;
  {
    double x = z;
    z = x * 2;
    {
      double x = z;
      z += x;
    }
  }
  return z;
}
TEST(Scalars, DeadCodeShadowedNamesAndUnusedParameters) { EXPECT_GRADIENT(shadowed, 1.3, 2.0, 3.0); }

constexpr double operator""_km(long double v) { return static_cast<double>(v) * 1000; }
constexpr double operator""_dozen(unsigned long long v) { return static_cast<double>(v) * 12; }
double literals_of_the_user(double x) { return x * 1.5_km + x * x * 2_dozen + 1'0.5e-1f * x * 0x1.8p1; }
TEST(Scalars, LiteralsOfTheUser) { EXPECT_GRADIENT(literals_of_the_user, 1.3); }

}  // namespace
