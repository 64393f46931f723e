// Whether a derivative is that of the function: differences of the function say what it is.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include "clad/test/fuzz/check.h"

namespace clad::test {

/// Whether the derivative's integral over a wide interval is what the function changes by. A chain of floats
/// is a staircase whose steps can be wider than those of any difference; its derivative is the slope of the
/// stairs.
template <class Case>
bool integrates(double x) {
  constexpr double half = 0.3, tolerance = 2e-2;
  constexpr double at[] = {0, 0.5384693101056831, 0.9061798459386640};  // Gauss-Legendre, five points
  constexpr double weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
  double integral = weight[0] * Case::derivative(x), size = std::fabs(integral);
  for (int i : {1, 2}) {
    for (double by : {-half * at[i], half * at[i]}) {
      const double part = weight[i] * Case::derivative(x + by);
      integral += part;
      size += std::fabs(part);
    }
  }
  const double change = (Case::primal(x + half) - Case::primal(x - half)) / half;
  return integral != 0 && std::fabs(integral - change) <= tolerance * (size + 2);
}

/// Compares `Case::derivative` with differences of `Case::primal` at several points; of the second
/// derivative, where it is one.
template <class Case>
Verdict check_leak() {
  for (double x : {1.37, 0.83, 2.21}) {
    const double is = Case::derivative(x);
    const auto difference = [&](double h) {
      const auto f = [&](double by) { return Case::primal(x + by); };
      if (!Case::second) return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
      return (16 * (f(h) + f(-h)) - (f(2 * h) + f(-2 * h)) - 30 * f(0)) / (12 * h * h);
    };
    const double h = Case::second ? 4e-3 : 1e-3;
    double expected = difference(h);
    const double other = difference(0.6 * h), scale = std::fabs(expected) + std::fabs(is) + 1;
    const auto agree = [](double a, double b) {
      return std::fabs(a - b) <= 1e-3 * (std::fabs(a) + std::fabs(b));
    };
    const bool near = std::fabs(expected - other) <= 1e-4 * (std::fabs(expected) + std::fabs(other) + 1);
    const bool unmoved = expected == 0 && other == 0 && is != 0;
    // A steep function of doubles, which smaller steps tell, or which is too steep for any.
    const auto is_at = [&](double step) {
      const double small = difference(step);
      return agree(small, difference(2 * step)) && agree(is, small);
    };
    if (!near && !Case::second && (is_at(h / 40) || is_at(h / 1000))) continue;
    if (!near && std::fabs(is) * h > 3) continue;
    // A float somewhere, or a smaller type of which the steps are less than a digit: larger steps.
    if (unmoved || !near) {
      if (Case::second && !unmoved) continue;
      expected = difference(32 * h);
      if (!(std::fabs(expected - difference(20 * h)) <= 3e-2 * scale)) continue;  // not smooth here
      if (std::fabs(is - expected) <= 1e-1 * scale) continue;
    }
    // The rounding of a float can be the same for both small steps.
    const auto close = [&](double to, double tolerance) { return std::fabs(is - to) <= tolerance * scale; };
    const double loose = Case::second ? 2e-2 : 1e-3, large = difference(32 * h), larger = difference(20 * h);
    const bool rough =
        std::fabs(expected - large) > 1e-3 * scale && std::fabs(large - larger) <= 3e-2 * scale;
    const bool stairs = !Case::second && std::fabs(expected - larger) > 1e-2 * scale;
    const double wide = rough ? 1e-1 : loose;
    if (!close(expected, 1e-3) && !(close(large, wide) && close(larger, wide)) && !is_at(h / 40) &&
        !is_at(h / 1000) &&  // a function that is this steep can have two equal differences, both wrong
        !(stairs && integrates<Case>(x))) {
      char text[80];
      std::snprintf(text, sizeof text, "%.12g, expected %.12g", is, expected);
      return {"wrong", text};
    }
  }
  return {"ok", ""};
}

}  // namespace clad::test
