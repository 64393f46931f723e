// Vectors, matrices and quaternions of glm, whose elements have several names in unions.
#include <glm/glm.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>
#include <glm/gtc/type_ptr.hpp>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double vectors(double x, double y) {
  const glm::dvec3 a(x, 1, y), b(2, x * y, 1), c = glm::cross(a, b);
  const glm::dvec3 bounced = glm::reflect(glm::mix(a, b, 0.3), glm::normalize(c));
  return glm::dot(glm::normalize(c), a) + glm::length(b) + glm::distance(a, b) + bounced.y;
}
TEST(Glm, Vectors) { EXPECT_DERIVATIVES(vectors, 1.3, 0.7); }

double names(double x, double y) {
  glm::dvec4 v(x, 2, y, 1);
  v.x *= v[2];
  v[1] += v.r;
  const double* p = glm::value_ptr(v);
  return p[1] * p[0] + glm::dvec3(v).z * v.a;
}
TEST(Glm, NamesOfElements) { EXPECT_DERIVATIVES(names, 1.3, 0.7); }

double matrices(double x, double y) {
  const glm::dmat3 m(x, 1, 2, 0.5, 3, x * y, 1, y, 4), inverse = glm::inverse(m);
  return glm::determinant(m) + inverse[0][1] * 3 + glm::transpose(m)[2][0];
}
TEST(Glm, Matrices) { EXPECT_DERIVATIVES(matrices, 1.3, 0.7); }

double camera(double x, double y) {
  const glm::dmat4 project = glm::perspective(x, 1.5, 0.1, 100.0),
                   view = glm::lookAt(glm::dvec3(x, y, 2), glm::dvec3(0), glm::dvec3(0, 1, 0)),
                   turn = glm::rotate(glm::translate(glm::dmat4(1), glm::dvec3(y, 2, 3)), x,
                                      glm::dvec3(0, 0.6, 0.8));
  const glm::dvec4 v = project * view * turn * glm::dvec4(1, x, 3, 1);
  return v.x / v.w + v.y;
}
TEST(Glm, CamerasAndTransforms) { EXPECT_GRADIENT(camera, 1.3, 0.7); }

double quaternions(double x, double y) {
  const glm::dquat q = glm::angleAxis(x, glm::dvec3(0, 0.6, 0.8)),
                   half = glm::slerp(q, glm::dquat(1, 0, 0, 0), 0.3);
  const glm::dvec3 v = q * glm::dvec3(1, 2, y);
  return v.x * v.y + half.w + glm::mat3_cast(q)[1][2];
}
TEST(Glm, Quaternions) { EXPECT_GRADIENT(quaternions, 1.3, 0.7); }

}  // namespace
