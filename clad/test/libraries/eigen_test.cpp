// What of Eigen can be differentiated: elements, reductions, products of whole vectors, and views of arrays.
#include <Eigen/Dense>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double elements(double x, double y) {
  const Eigen::Vector3d v(x, 2, x * y);
  return v.x() * v.z() + v[1] * v(0);
}
TEST(Eigen, Elements) { EXPECT_REVERSE_GRADIENT(elements, 1.3, 0.7); }

double reductions(double x, double y) {
  const Eigen::Vector3d a(x, 2, x * y), b(1, y, 3);
  return a.dot(b) + a.norm() + b.squaredNorm() + a.sum() * b.prod() + a.cross(b)(1);
}
TEST(Eigen, Reductions) { EXPECT_REVERSE_GRADIENT(reductions, 1.3, 0.7); }

double of_expressions(double x, double y) {
  const Eigen::Vector2d a(x, 2), b(1, y);
  return (a + b).dot(a - b) + a.cwiseProduct(b).sum();
}
TEST(Eigen, ReductionsOfExpressions) { EXPECT_REVERSE_GRADIENT(of_expressions, 1.3, 0.7); }

double of_matrix(double x, double y) {
  Eigen::Matrix3d m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = x * i + y * j * j;
  return m.trace() + m.sum() + m.squaredNorm();
}
TEST(Eigen, Matrices) { EXPECT_GRADIENT(of_matrix, 1.3, 0.7); }

double squares(const Eigen::Vector3d& v) { return v.squaredNorm() + v(0) * v(1); }
double passed_on(double x, double y) {
  const Eigen::Vector3d a(x, 2, y);
  return squares(a);
}
TEST(Eigen, Parameters) { EXPECT_REVERSE_GRADIENT(passed_on, 1.3, 0.7); }

double mapped(double x, double y) {
  const double numbers[3] = {x, 2, x * y};
  const Eigen::Map<const Eigen::VectorXd> v(numbers, 3);
  return v.dot(v);
}
TEST(Eigen, MapsOfArrays) { EXPECT_GRADIENT(mapped, 1.3, 0.7); }

}  // namespace
