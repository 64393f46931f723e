// Whether the derivatives of a fuzzed program agree: reverse with forward mode, forward mode with differences
// of the function, products with the Hessian with differences of the gradient, and the gradient with that of
// a recorded graph.
//
// The program's arguments before and after a run are vectors of numbers x and y(x). Checked is the function
// F(x) = f(x) + w y(x), with random weights w: a gradient that starts from w ends as the gradient of F.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "clad/test/support/numbers.h"

namespace clad::test {

using numbers = std::vector<double>;

struct Verdict {
  std::string status, detail;  ///< "ok", "skipped" or the name of what is wrong
};

/// A program and its derivatives, as functions of the numbers in its arguments.
class Program {
 public:
  virtual ~Program() = default;
  virtual numbers start() = 0;
  virtual bool single() const { return false; }  ///< it computes with floats
  virtual bool has_hessian() const { return false; }
  virtual double primal(const numbers& x, numbers& y) = 0;
  virtual double gradient(numbers& x, numbers& d) = 0;
  virtual std::pair<double, double> pushforward(numbers& x, numbers& d) = 0;
  virtual void hessian(numbers&, const numbers&, numbers&) {}
  /// The gradient by a recorded graph (graph.h), if the program runs with numbers that record.
  virtual bool graph(const numbers&, numbers&) { return false; }
};

inline double dot(const numbers& a, const numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double size(const numbers& a, const numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] * b[i]);
  return sum;
}
inline numbers moved(const numbers& x, double by, const numbers& v) {
  numbers out = x;
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += by * v[i];
  return out;
}
inline bool tame(const numbers& a) {
  return std::all_of(a.begin(), a.end(), [](double x) { return std::fabs(x) < 1e8; });
}

/// Four-point central difference.
template <class F>
auto difference_of(F&& f, double step) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
}
/// Differences with two steps, where they agree; otherwise the function is not smooth here.
template <class F>
bool smooth_difference(F&& f, double step, double tolerance, double scale, double& out) {
  out = difference_of(f, step);
  const double other = difference_of(f, 0.37 * step);
  return std::fabs(out - other) <= tolerance * scale;
}

class Checker {
 public:
  Checker(Program& program, unsigned seed)
      : program_(program), at_(program.start()), single_(program.single()), state_(seed * 2 + 1) {}

  Verdict run() {
    const numbers w = random();
    numbers y;
    const double value = attempt([&] { return program_.primal(at_, y); });
    if (!tame(y) || !(std::fabs(value) < 1e8)) return {"skipped", "large"};
    numbers x = at_, g = w;
    const double same = program_.gradient(x, g);
    if (!identical(same, value)) return {"value", text(same, value)};
    if (x != at_) return {"arguments", "changed by the gradient"};
    if (!tame(g)) return {"skipped", "large"};
    numbers recorded = w;
    if (program_.graph(at_, recorded)) {
      for (std::size_t i = 0; i < g.size(); ++i) {
        if (!(std::fabs(recorded[i] - g[i]) <= 1e-9 * (size(g, g) / (1 + std::sqrt(size(g, g))) + 1)))
          return {"graph", text(recorded[i], g[i])};
      }
    }
    bool smooth = true;
    for (int direction = 0; direction < 2; ++direction) {
      const numbers v = random();
      const Verdict verdict = along(w, v, value, y, g, smooth);
      if (verdict.status != "ok") return verdict;
    }
    if (program_.has_hessian() && !single_) return hessian(smooth);
    return smooth ? Verdict{"ok", ""} : Verdict{"skipped", "kink"};
  }

 private:
  Verdict along(const numbers& w, const numbers& v, double value, const numbers& y, const numbers& g,
                bool& smooth) {
    numbers x = at_, d = v;
    const auto [same, tangent] = program_.pushforward(x, d);
    if (!identical(same, value)) return {"forward-value", text(same, value)};
    if (x != y) return {"forward-arguments", "differ from those after the function"};
    const double forward = tangent + dot(w, d), reverse = dot(g, v);
    const double scale = size(g, v) + size(w, d) + std::fabs(tangent) + 1e-2;
    if (!(std::fabs(forward - reverse) <= (single_ ? 1e-3 : 1e-9) * scale))
      return {"modes", "reverse " + text(reverse, forward)};
    const auto moved_value = [&](double by) {
      numbers after;
      const double f = attempt([&] { return program_.primal(moved(at_, by, v), after); });
      return f + dot(w, after);
    };
    double expected = 0;
    const double tolerance = single_ ? 1e-3 : 1e-6;
    if (!smooth_difference(moved_value, single_ ? 0.03 : 1e-3, tolerance, scale, expected))
      smooth = false;
    else if (!(std::fabs(forward - expected) <= 10 * tolerance * scale))
      return {"difference", text(forward, expected)};
    return {"ok", ""};
  }
  Verdict hessian(bool smooth) {
    const numbers v = random();
    numbers x = at_, product(x.size(), 0.0);
    program_.hessian(x, v, product);
    if (x != at_) return {"arguments", "changed by the Hessian"};
    if (!tame(product)) return {"skipped", "large"};
    const numbers u = random();
    const auto moved_gradient = [&](double by) {
      numbers at = moved(at_, by, v), g(at.size(), 0.0);
      const double f = attempt([&] { return program_.gradient(at, g); });
      return f + dot(g, u) - f;
    };
    double expected = 0;
    const double scale = size(product, u) + 1e-2;
    if (!smooth_difference(moved_gradient, 1e-3, 1e-6, scale, expected) || !smooth)
      return {"skipped", "kink"};
    if (!(std::fabs(dot(product, u) - expected) <= 1e-5 * scale))
      return {"hessian", text(dot(product, u), expected)};
    return {"ok", ""};
  }

  /// The function's value; NaN where it throws.
  template <class F>
  static double attempt(F&& f) {
    try {
      return f();
    } catch (const std::exception&) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  /// Bit by bit, but any NaN is like another.
  static bool identical(double a, double b) { return a == b || (a != a && b != b); }
  static std::string text(double is, double expected) {
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%.15g, expected %.15g", is, expected);
    return buffer;
  }
  numbers random() {
    numbers out;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      out.push_back(static_cast<double>(state_ >> 40) / (1 << 24) + 0.25);
    }
    return out;
  }

  Program& program_;
  const numbers at_;
  const bool single_;
  std::uint64_t state_;
};

template <class Arguments>
numbers numbers_of(Arguments& arguments) {
  numbers out;
  arguments.reals([&](auto& x) { out.push_back(x); });
  return out;
}
template <class Arguments>
void set_numbers(Arguments& arguments, const numbers& values) {
  std::size_t i = 0;
  arguments.reals([&](auto& x) { x = static_cast<std::remove_reference_t<decltype(x)>>(values[i++]); });
}

}  // namespace clad::test
