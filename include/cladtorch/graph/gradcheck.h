// Checks gradients of functions of numbers against central differences, those of the graph and compiled ones.
#pragma once

#include <cmath>
#include <limits>
#include <ostream>

#include "cladtorch/graph/grad.h"
#include "cladtorch/random.h"

namespace cladtorch::graph {

/// The derivative along one random direction, or the one of several that was furthest off.
struct GradCheck {
  double analytic = 0, numeric = 0;
  double precision = 0;  ///< how far the difference quotient may be off by rounding and curvature
  double error() const { return std::fabs(analytic - numeric); }
};
inline std::ostream& operator<<(std::ostream& out, const GradCheck& check) {
  return out << check.analytic << ", by central differences " << check.numeric << ", which are right to "
             << check.precision;
}

/// Compares gradient(x), a std::vector<double>, with differences of f, a double of such a vector, along
/// random directions v: (f(x + h v) - f(x - h v)) / 2 h. Their precision is ten times the sum of the
/// rounding errors, epsilon |f| / h, and of what a step of 2 h changes. Returns the direction that is worst
/// by that measure. Throws Error if the gradient is off by more, or if f is not smooth within 2 h of x.
template <class F, class Gradient>
  requires std::invocable<Gradient, const std::vector<double>&>
GradCheck gradcheck(F f, Gradient gradient, const std::vector<double>& x, double h = 1e-6) {
  const std::vector<double> d = gradient(x);
  require(d.size() == x.size(), "gradcheck: ", x.size(), " inputs, but ", d.size(), " derivatives");
  Random random(1);
  GradCheck worst;
  double ratio = -1;
  for (int direction = 0; direction < 8; ++direction) {
    std::vector<double> v(x.size());
    for (double& e : v) e = 2 * random.uniform() - 1;
    double scale = 0;
    const auto moved = [&](double by) {
      std::vector<double> at = x;
      for (size_t i = 0; i < x.size(); ++i) at[i] += by * v[i];
      const double y = static_cast<double>(f(at));
      scale = std::max(scale, std::fabs(y));
      return y;
    };
    GradCheck check;
    check.numeric = (moved(h) - moved(-h)) / (2 * h);
    const double wide = (moved(2 * h) - moved(-2 * h)) / (4 * h);
    for (size_t i = 0; i < x.size(); ++i) check.analytic += d[i] * v[i];
    check.precision =
        10 * (std::numeric_limits<double>::epsilon() * scale / h + std::fabs(wide - check.numeric));
    require(
        !(check.precision > 1e-3 * std::max({scale, std::fabs(check.numeric), std::fabs(check.analytic)})),
        "gradcheck: f is not smooth within two steps, differences are right to ", check.precision,
        " only; take other inputs or a smaller h");
    const double off = check.error() / check.precision;
    require(check.error() <= check.precision, "gradcheck: the gradient along a random direction is ", check);
    if (off > ratio) ratio = off, worst = check;
  }
  return worst;
}

/// The same for the graph's gradient of f, a Var of a std::vector<Var>.
template <class F>
GradCheck gradcheck(F f, const std::vector<double>& x, double h = 1e-6) {
  const auto vars = [](const std::vector<double>& at) { return std::vector<Var>(at.begin(), at.end()); };
  const auto value = [&](const std::vector<double>& at) { return f(vars(at)).value; };
  const auto gradient = [&](const std::vector<double>& at) {
    std::vector<double> d;
    for (const Var& v : grad(f)(vars(at))) d.push_back(v.value);
    return d;
  };
  return gradcheck(value, gradient, x, h);
}

}  // namespace cladtorch::graph
