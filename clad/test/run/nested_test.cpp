// Derivatives of functions that take derivatives themselves.
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Network {
  std::vector<double> w;
  double operator()(double x, double t) const {
    double y = 0;
    for (std::size_t i = 0; i + 2 < w.size(); i += 3) y += w[i] * std::tanh(w[i + 1] * x + w[i + 2] * t);
    return y;
  }
  template <class V>
  void reals(V&& v) {
    for (double& x : w) v(x);
  }
};
double u(const Network& n, double x, double t) { return n(x, t); }

/// The residual of the heat equation, squared: as in a physics-informed network.
double residual(const Network& n, double k) {
  double sum = 0;
  for (int i = 1; i < 4; ++i) {
    const double x = 0.3 * i, t = 0.1 * i;
    auto u_t = clad::differentiate(u, "t");
    const double r = u_t.execute(n, x, t) - k * clad::differentiate<2>(u, "x").execute(n, x, t);
    sum += r * r;
  }
  return sum;
}
TEST(Nested, ALossMayContainDerivativesOfTheNetwork) {
  const Network n{{0.5, 1.1, -0.3, 0.8, -0.7, 0.9}};
  EXPECT_GRADIENT(residual, n, 0.4);
  double h = 0;
  clad::hessian(residual, "k").execute(n, 0.4, &h);
  double d = 0, d_plus = 0, d_minus = 0;
  clad::gradient(residual, "k").execute(n, 0.4, &d);
  clad::gradient(residual, "k").execute(n, 0.4 + 1e-5, &d_plus);
  clad::gradient(residual, "k").execute(n, 0.4 - 1e-5, &d_minus);
  EXPECT_NEAR(h, (d_plus - d_minus) / 2e-5, 1e-6);
}

double potential(double x, double y) { return std::exp(x * y) + x * x * y; }
double force(double x, double y) {
  double d_x = 0, d_y = 1;
  clad::gradient(potential).execute(x * 2, y, &d_x, &d_y);
  return d_x * d_x + d_y * x;
}
double slope(double x, double y) {
  return clad::differentiate(potential, 0).execute(x * y, y) * y +
         clad::differentiate<2>(potential, "x").execute(x, y);
}
std::vector<double> forces(double x, double y) {
  double d_x = 0, d_y = 0;
  clad::gradient(potential).execute(x, y, &d_x, &d_y);
  return {d_x * y, d_y};
}
TEST(Nested, InSeveralDirections) {
  double d_x = 0, d_y = 0, e_x = 0, e_y = 0, m[4];
  clad::gradient(slope).execute(0.3, 0.7, &d_x, &d_y);
  clad::differentiate<clad::opts::vector_mode>(slope, "x, y").execute(0.3, 0.7, &e_x, &e_y);
  EXPECT_DOUBLE_EQ(d_x, e_x);
  EXPECT_DOUBLE_EQ(d_y, e_y);
  clad::jacobian(slope).execute(0.3, 0.7, m);
  EXPECT_DOUBLE_EQ(d_x, m[0]);
  EXPECT_DOUBLE_EQ(d_y, m[1]);
  clad::jacobian(forces).execute(0.3, 0.7, m);
  const double e = std::exp(0.21), f = 0.7 * e + 2 * 0.3 * 0.7;  // d_x = f, d_y = 0.3 * e + 0.3 * 0.3
  const double expected[4] = {0.7 * (0.49 * e + 1.4), f + 0.7 * (e + 0.21 * e + 0.6), e + 0.21 * e + 0.6,
                              0.09 * e};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(expected[i], m[i], 1e-12) << i;
}
TEST(Nested, OfAGradient) { EXPECT_GRADIENT(force, 0.3, 0.7); }

struct Spring {
  double k;
  double energy(double x) const { return k * x * x * x / 3; }
  template <class V>
  void reals(V&& v) {
    v(k);
  }
};
double of_method(const Spring& s, double x) {
  const auto d = clad::differentiate(&Spring::energy, 0);
  return d.execute(s, x) * x + d.execute(s, 2);
}
double of_lambda(double a, double x) {
  auto f = [&](double y) { return a * y * y * x; };
  return clad::differentiate(f, "y").execute(a * x) + a;
}
TEST(Nested, OfMethodsAndLambdas) {
  EXPECT_GRADIENT(of_method, Spring{1.5}, 0.7);
  EXPECT_GRADIENT(of_lambda, 1.5, 0.7);
}

}  // namespace
