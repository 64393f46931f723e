// Boost's solvers, quadratures, distributions and special functions, of which the plugin knows nothing.
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/trapezoidal.hpp>
#include <boost/math/quaternion.hpp>
#include <boost/math/special_functions/chebyshev.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/legendre.hpp>
#include <boost/math/tools/polynomial.hpp>
#include <boost/math/tools/roots.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>
#include <cmath>
#include <utility>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double integrals(double x, double y) {
  const auto bell = [x](double t) { return std::exp(-x * t * t); };
  const auto around = [y](double t) { return std::exp(y * std::cos(t)); };
  return boost::math::quadrature::gauss<double, 7>::integrate(bell, 0.0, 1 + y) +
         boost::math::quadrature::trapezoidal(around, 0.0, 6.283185307179586, 1e-6);
}
TEST(Boost, Quadratures) { EXPECT_GRADIENT(integrals, 1.3, 0.7); }

double root(double x, double y) {
  const auto cubic = [x, y](double t) { return std::make_pair(t * t * t + y * t - x, 3 * t * t + y); };
  return boost::math::tools::newton_raphson_iterate(cubic, 1.0, 0.1, 5.0, 40);
}
TEST(Boost, Roots) { EXPECT_GRADIENT(root, 1.3, 0.7); }

double polynomials(double x, double y) {
  const double c[4] = {1, x, 2, y};
  return boost::math::tools::evaluate_polynomial(c, x * y, 4) + boost::math::legendre_p(4, y) +
         boost::math::chebyshev_t(5, y);
}
TEST(Boost, Polynomials) { EXPECT_GRADIENT(polynomials, 1.3, 0.7); }

double distributions(double x, double y) {
  const boost::math::normal normal(x, 1 + y * y);
  return pdf(normal, 0.3) + 2 * mean(normal) + standard_deviation(normal) + cdf(normal, y) +
         boost::math::tgamma(x + 1);
}
TEST(Boost, DistributionsAndGamma) { EXPECT_GRADIENT(distributions, 1.3, 0.7); }

using State = std::array<double, 2>;
double orbit(double x, double y) {
  State state = {1, y};
  boost::numeric::odeint::runge_kutta4<State> stepper;
  const auto pendulum = [x](const State& s, State& change, double) {
    change[0] = s[1];
    change[1] = -x * s[0];
  };
  for (int i = 0; i < 5; ++i) stepper.do_step(pendulum, state, 0.1 * i, 0.1);
  return state[0] * state[1];
}
TEST(Boost, OrdinaryDifferentialEquations) { EXPECT_GRADIENT(orbit, 1.3, 0.7); }

double quaternions(double x, double y) {
  const boost::math::quaternion<double> q(x, 1, 2, y), p(1, x, 0, 2), r = q * p;
  return r.R_component_1() + r.R_component_3() * norm(q);
}
TEST(Boost, Quaternions) { EXPECT_GRADIENT(quaternions, 1.3, 0.7); }

}  // namespace
