// The order in which operands with effects are evaluated is the one the compiler chose for the function
// itself.
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

}  // namespace
