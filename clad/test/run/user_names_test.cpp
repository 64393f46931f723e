// Functions of the program that are called like those of the library, and classes that say how they are made
// and assigned.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

static double lerp(double t, double a, double b) { return a + t * (b - a); }
double clamp(double low, double high, double x) { return x < low ? low : x > high ? high : x; }
static double hypot(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c) + a; }
template <class T>
T max(T a, T b) {
  return a * b;
}
extern "C" double exp10(double a) { return a * 2; }
struct Point {
  double x, y;
};
static Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y}; }
static Point operator*(const Point& a, double s) { return {a.x * s, a.y * s}; }
static Point pow(const Point& a, double s) { return a + a * s; }
static Point lerp(const Point& a, const Point& b, double t) { return a * (1 - t) + b * t; }

namespace {

double beta(double a, double b) { return a + 2 * b; }

double of_numbers(double x, double y) {
  return ::lerp(x, 3., 7 * y) + ::clamp(0, 10, x * x) + ::hypot(x, y, 1.) + ::max(x, 3 * y) + beta(x, y) +
         ::exp10(x) + std::lerp(x, y, 0.3) + std::hypot(x, y, 2.);
}
double of_points(double x, double y) {
  const Point a = ::lerp(Point{x, 1}, Point{2, y}, 0.3), b = ::pow(Point{x, y}, x);
  return a.x * a.y * b.x * b.y;
}
TEST(UserNames, AreNotTheLibrarys) {
  EXPECT_DERIVATIVES(of_numbers, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_points, 1.3, 0.7);
}

struct Assigned {
  double a{}, b{};
  Assigned() = default;
  Assigned(const Assigned&) = default;
  Assigned& operator=(const Assigned& o) {
    b = o.b;
    a = o.a;
    return *this;
  }
};
Assigned made(double x) {
  Assigned m;
  m.a = x * x;
  m.b = x;
  return m;
}
double copied(double x, double y) {
  Assigned v;
  v.a = x;
  v.b = y;
  Assigned w = v, u = made(y);
  for (int i = 0; i < 3; ++i) {
    const Assigned before = w;
    w.a = w.a * before.b + u.a;
    w.b *= before.a;
    w = u;
  }
  return w.a * w.b + u.b;
}
struct Explicit {
  double x, y;
  explicit Explicit(double x = 0, double y = 0) : x(x), y(y) {}
};
struct Face {
  Explicit normal;
  int number;
};
double explicit_default(double x, double y) {
  std::vector<Face> faces;
  faces.push_back(Face{Explicit(x, y), 1});
  return faces[0].normal.x * faces[0].normal.y;
}
TEST(UserClasses, SayHowTheyAreMadeAndAssigned) {
  EXPECT_DERIVATIVES(copied, 1.3, 0.7);
  EXPECT_DERIVATIVES(explicit_default, 1.3, 0.7);
}

struct Light {
  double exponent, color;
};
double specular(double x) {
  const Light light{0, x};
  return std::pow(std::fmax(0, -x), light.exponent) * light.color;
}
TEST(UserClasses, ZeroToThePowerOfAConstantZeroHasNoDerivative) {
  EXPECT_EQ(clad::differentiate(specular, "x").execute(2.0), 1);
  double d = 0;
  clad::gradient(specular).execute(2.0, &d);
  EXPECT_EQ(d, 1);
}

}  // namespace
