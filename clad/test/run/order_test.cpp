// The order in which operands with effects are evaluated is the one the compiler chose for the function
// itself.
#include <array>
#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double twice(double& x) {
  x *= 2;
  return x;
}
struct Three {
  double a, b, c;
};

double in_lists(double y) {
  double z = y;
  double v[3] = {z *= 2, z *= 3, z};
  Three s{z, twice(z), z};
  std::vector<double> w{z, z += y, z};
  return v[0] * v[1] * v[2] + s.a * s.b * s.c + w[0] * w[1] * w[2];
}
TEST(Order, BracedListsRunFromLeftToRight) { EXPECT_GRADIENT(in_lists, 0.7); }

double product(double a, double b) { return a * a * b; }
double in_operands_and_arguments(double y) {
  double z = y * y;
  double s = z + twice(z) * z;
  s += product(z, twice(z)) + product(twice(z), z);
  return s * (z - twice(z)) / (twice(z) + z);
}
TEST(Order, OperandsAndArgumentsRunFromLeftToRight) { EXPECT_GRADIENT(in_operands_and_arguments, 0.7); }

double in_assignments(const double* a, double x) {
  double v[4] = {1, 2, 3, 4};
  int i = 0;
  v[i++] = a[i] * x;
  v[++i] += a[i] * v[0];
  double s = x;
  s += twice(s);
  s = twice(s) * s;
  return v[0] * v[1] * v[2] * s + i;
}
TEST(Order, TheRightSideOfAnAssignmentRunsFirst) {
  EXPECT_GRADIENT(in_assignments, (clad::test::buffer<double>{0.5, 0.6, 0.7}), 1.3);
}

struct Row {
  double w[3];
  double get(int i) const { return w[i]; }
  double& at(int i) { return w[i]; }
  double times(double k) const { return w[0] * k; }
};
double of_rows(const Row& r, int i) { return r.w[i] * r.w[0]; }
double doubled(double& e, int i) {
  e *= 2;
  return e * i;
}
double of_pointer(const double* p, int i) { return p[0] * (i + 1); }
double of_calls(double x, double y) {
  Row r[3]{{{x, y, x * y}}, {{y, x * x, 2 * x}}, {{y * y, x, 3 * y}}};
  int i = 0;
  double s = r[i].times(i++ + x) * r[i].w[0];
  s += r[i].get(++i) * of_rows(r[i], --i);
  r[i].at(--i) *= x;
  s += doubled(r[i].w[i], ++i) * r[0].w[0];
  const auto part = [&](const Row& row, int k) { return row.w[k] * x; };
  s *= part(r[i], ++i);
  return s + of_pointer(&r[0].w[i], --i) + of_pointer(r[0].w + i, ++i);
}
double of_elements(double x, double y) {
  double a[2][2]{{x, y}, {x * y, x}};
  double(*p)[2] = a;
  std::vector<std::vector<double>> v{{x, y}, {y, x * y}};
  std::array<std::array<double, 2>, 2> b{{{x, y}, {y, x * y}}};
  int i = 0;
  double s = a[i][++i];
  s *= v[--i][++i] + b[--i][++i];
  s *= v[--i].at(++i) + p[--i][++i];
  std::optional<double> o[2]{x, {}};
  return s * o[i].value_or(--i * x + y) + std::make_pair(a[0][i], a[0][++i]).second;
}
TEST(Order, WhichObjectIsMeantIsSaidFirst) {
  EXPECT_GRADIENT(of_calls, 1.3, 0.7);
  EXPECT_GRADIENT(of_elements, 1.3, 0.7);
}

struct Weight {
  double a;
  Weight& operator+=(const Weight& o) {
    a = a * 2 + o.a;
    return *this;
  }
};
Weight& operator-=(Weight& w, const Weight& o) {
  w.a = w.a * 3 - o.a;
  return w;
}
double of_operators(double x, double y) {
  Weight w[4]{{x}, {y}, {x * y}, {y * y}};
  int i = 0;
  w[i] += w[++i];
  w[i++] -= w[i];
  w[i++] += Weight{w[i].a *= 2};
  (w[i] -= w[0]) += w[--i];
  std::complex<double> z[3]{{x, y}, {y, x}, {x * y, 1}};
  i = 0;
  z[i] *= z[++i];
  z[i++] += z[i];
  return w[0].a * w[1].a * w[2].a * w[3].a + z[0].real() * z[1].imag() * z[2].real();
}
TEST(Order, TheRightSideOfAnAssigningOperatorRunsFirst) { EXPECT_GRADIENT(of_operators, 1.3, 0.7); }

double take(double&& x) {
  x *= 2;
  return x;
}
double moved(double y) {
  double z = y * y;
  double a = take(std::move(z));
  return a * z + take(y * 3);
}
TEST(Order, RvalueReferencesAreReferences) { EXPECT_GRADIENT(moved, 1.3); }

struct Held {
  double u;
  double times(Held other, double y) const { return other.u * y + other.u * u; }
};
double advance(Held& h, double x) {
  h.u = h.u * x + 1;
  return h.u * 0.6;
}
double advance(std::vector<double>& h, double x) {
  h[0] = h[0] * x + 1;
  return h[0] * 0.6;
}
struct Both {
  Held h;
  double y;
  Both(Held h, double y) : h(h), y(y) {}
};
double of_held(Held h, double y) { return h.u * y + h.u; }
double of_vector(std::vector<double> v, double y) { return v[0] * y + v[0]; }
double copies_come_first(double x, double y) {
  Held t{y}, o{x}, all[] = {{x}, {y}};
  std::vector<double> v{y};
  double s = of_held(t, advance(t, x));
  s *= of_held(all[1], advance(all[1], x));
  s += of_vector(v, advance(v, x)) * o.times(t, advance(t, x));
  Both a{t, advance(t, x)};
  const auto f = [](const Held h, double y) { return h.u * y + h.u; };
  return s + a.h.u * a.y + f(Held(t), advance(t, x));
}
TEST(Order, ObjectsByValueAreCopiedWhenTheirTurnComes) { EXPECT_DERIVATIVES(copies_come_first, 0.3, 0.7); }

}  // namespace
