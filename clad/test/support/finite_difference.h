// Compares a generated gradient with finite differences of the function itself.
//
//   EXPECT_GRADIENT(f, 1.5, 2, buffer{1, 2, 3});
//
// Arguments may be numbers, std::vector, std::array, std::pair, `buffer` for a pointer parameter, and classes
// that enumerate their numbers in a member `template <class V> void reals(V&& visit)`. Every one that holds a
// float, double or long double gets an adjoint; integers get a null pointer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "clad/test/support/numbers.h"

namespace clad::test {

/// How closely the gradient must agree. The four-point difference has an error near step^4 + epsilon / step.
struct Agreement {
  long double relative = 1e-8L;
  long double step = 5e-4L;
  bool in_place =
      false;  ///< the function changes its arguments: what the adjoints hold before is the cotangent of that
};

/// The derivative of `f` in its number `index`, by a four-point central difference.
template <class F, class Tuple>
long double difference(F& f, const Tuple& at, std::size_t index, long double step) {
  auto shifted = [&](long double by) {
    Tuple arguments = at;
    add_to(arguments, index, by);
    return static_cast<long double>(std::apply([&](auto&... a) { return f(as_argument(a)...); }, arguments));
  };
  return (8 * (shifted(step) - shifted(-step)) - (shifted(2 * step) - shifted(-2 * step))) / (12 * step);
}

/// An empty string if `gradient` is the derivative of `f` at `args`; else what is wrong. Also checked: the
/// adjoints are added to, a second call adds the same again, and the arguments are as they were.
template <class G, class F, class... A>
std::string gradient_error(const G& gradient, F f, Agreement agreement, const A&... args) {
  using Tuple = std::tuple<A...>;
  const Tuple at(args...);
  Tuple primals = at, adjoints = at;
  std::vector<long double> start;
  for (std::size_t i = 0, n = flatten(at).size(); i < n; ++i) {
    start.push_back(agreement.in_place ? 0 : 0.5L * static_cast<long double>(i % 3));
    add_to(adjoints, i, start[i] - flatten(adjoints)[i]);
  }
  auto execute = [&] {
    std::apply(
        [&](auto&... p) {
          std::apply([&](auto&... d) { gradient.execute(as_argument(p)..., as_adjoint(d)...); }, adjoints);
        },
        primals);
    return flatten(adjoints);
  };
  const std::vector<long double> first = execute();
  if (flatten(primals) != flatten(at)) return "the arguments have changed";
  if (agreement.in_place)
    for (std::size_t i = 0; i < first.size(); ++i) add_to(adjoints, i, -first[i]);
  std::vector<long double> second = execute();
  if (agreement.in_place)
    for (std::size_t i = 0; i < first.size(); ++i) second[i] += first[i];
  if (first.size() != start.size()) return "the adjoints have changed shape";
  for (std::size_t i = 0; i < start.size(); ++i) {
    const long double expected = difference(f, at, i, agreement.step);
    const long double bound = agreement.relative * std::max(1.0L, std::fabs(expected));
    const std::string where = "number " + std::to_string(i) + ": ";
    if (!(std::fabs(first[i] - start[i] - expected) <= bound))
      return where + "gradient " + std::to_string(first[i] - start[i]) + ", finite difference " +
             std::to_string(expected);
    if (!(std::fabs(second[i] - first[i] - (first[i] - start[i])) <= bound))
      return where + "the second call adds " + std::to_string(second[i] - first[i]) + ", the first " +
             std::to_string(first[i] - start[i]);
  }
  return "";
}

/// An empty string if `pushforward` is the derivative of `f` at `args` in some direction; else what is wrong.
template <class G, class F, class... A>
std::string pushforward_error(const G& pushforward, F f, Agreement agreement, const A&... args) {
  using Tuple = std::tuple<A...>;
  const Tuple at(args...);
  Tuple primals = at, tangents = at;
  std::vector<long double> direction;
  for (std::size_t i = 0, n = flatten(at).size(); i < n; ++i) {
    direction.push_back(0.25L * static_cast<long double>(i % 5) - 0.375L);
    add_to(tangents, i, direction[i] - flatten(tangents)[i]);
  }
  const auto run = [&] {
    return std::apply(
        [&](auto&... p) {
          return std::apply(
              [&](auto&... d) { return pushforward.execute(as_argument(p)..., as_adjoint(d)...); }, tangents);
        },
        primals);
  };
  const auto actual = run();
  const auto shifted = [&](long double by) {
    Tuple moved = at;
    for (std::size_t i = 0; i < direction.size(); ++i) add_to(moved, i, by * direction[i]);
    return static_cast<long double>(std::apply([&](auto&... a) { return f(as_argument(a)...); }, moved));
  };
  const long double value = shifted(0), step = agreement.step;
  const long double expected =
      (8 * (shifted(step) - shifted(-step)) - (shifted(2 * step) - shifted(-2 * step))) / (12 * step);
  const auto close = [&](long double a, long double b) {
    return std::fabs(a - b) <= agreement.relative * std::max(1.0L, std::fabs(b));
  };
  if (!close(actual.value, value))
    return "value " + std::to_string(actual.value) + ", expected " + std::to_string(value);
  if (!close(actual.pushforward, expected))
    return "tangent " + std::to_string(actual.pushforward) + ", finite difference " +
           std::to_string(expected);
  return "";
}

/// An empty string if `hessian` is that of the function of two numbers with this gradient; else what is
/// wrong.
template <class H, class G>
std::string hessian_error(const H& hessian, const G& gradient, double x, double y) {
  double second[4] = {};
  hessian.execute(x, y, second);
  const double step = 1e-4;
  for (int j = 0; j < 2; ++j) {
    double change[2] = {};
    for (const double by : {-step, step}) {
      double g[2] = {};
      gradient.execute(x + (j == 0 ? by : 0), y + (j == 1 ? by : 0), &g[0], &g[1]);
      for (int i = 0; i < 2; ++i) change[i] += (by > 0 ? g[i] : -g[i]) / (2 * step);
    }
    for (int i = 0; i < 2; ++i)
      if (!(std::fabs(second[2 * i + j] - change[i]) <= 1e-5 * std::max(1.0, std::fabs(change[i]))))
        return "second derivative " + std::to_string(i) + ", " + std::to_string(j) + ": " +
               std::to_string(second[2 * i + j]) + ", finite difference " + std::to_string(change[i]);
  }
  return "";
}

/// The derivative of `f`, a function of a vector, with respect to one element.
template <class F>
double slope(F f, const std::vector<double>& x, std::size_t i) {
  const double h = 1e-6;
  std::vector<double> up = x, down = x;
  up[i] += h;
  down[i] -= h;
  return (f(up) - f(down)) / (2 * h);
}

template <class Method>
auto calling(Method method) {
  return [method](auto& object, auto&&... rest) { return (object.*method)(rest...); };
}

}  // namespace clad::test

/// The gradient of function `f` in all parameters, and its forward mode, agree with finite differences.
#define EXPECT_GRADIENT(f, ...) EXPECT_GRADIENT_WITHIN((::clad::test::Agreement{}), f, __VA_ARGS__)
#define EXPECT_GRADIENT_WITHIN(agreement, f, ...)                                            \
  EXPECT_EQ("", ::clad::test::gradient_error(clad::gradient(f), f, agreement, __VA_ARGS__) + \
                    ::clad::test::pushforward_error(clad::pushforward(f), f, agreement, __VA_ARGS__))
/// Likewise, and the second derivatives of a function of two numbers agree with those of its gradient.
#define EXPECT_DERIVATIVES(f, x, y) \
  EXPECT_GRADIENT(f, x, y);         \
  EXPECT_EQ("", ::clad::test::hessian_error(clad::hessian(f), clad::gradient(f), x, y))
/// The gradient alone.
#define EXPECT_REVERSE_GRADIENT(f, ...) \
  EXPECT_EQ("", ::clad::test::gradient_error(clad::gradient(f), f, ::clad::test::Agreement{}, __VA_ARGS__))
/// Likewise where `f` changes what a reference or pointer parameter refers to.
#define EXPECT_GRADIENT_IN_PLACE(f, ...) \
  EXPECT_GRADIENT_WITHIN((::clad::test::Agreement{.in_place = true}), f, __VA_ARGS__)
/// Likewise of a member function; the object is the first argument.
#define EXPECT_METHOD_GRADIENT(method, ...) \
  EXPECT_METHOD_GRADIENT_WITHIN((::clad::test::Agreement{}), method, __VA_ARGS__)
#define EXPECT_METHOD_GRADIENT_IN_PLACE(method, ...) \
  EXPECT_METHOD_GRADIENT_WITHIN((::clad::test::Agreement{.in_place = true}), method, __VA_ARGS__)
#define EXPECT_METHOD_GRADIENT_WITHIN(agreement, method, ...)                                       \
  EXPECT_EQ("", ::clad::test::gradient_error(clad::gradient(method), ::clad::test::calling(method), \
                                             agreement, __VA_ARGS__) +                              \
                    ::clad::test::pushforward_error(clad::pushforward(method),                      \
                                                    ::clad::test::calling(method), agreement, __VA_ARGS__))
