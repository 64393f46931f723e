// Derivatives by the five-point difference formula, for functions that cannot be differentiated.
//
//   double f(double x, double y);
//   double f_x = numerical_diff::forward_central_difference(f, 3.0, 0, false, 3.0, 4.0);
//
// The function may not change array arguments. A class that is not a number defines a step in its own
// updateIndexParamValue(), in its namespace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace numerical_diff {

/// The type of steps and derivatives.
using precision = double;

/// A step in proportion to x, with which about ten digits of a derivative are right; `part` of it where less
/// of the neighbourhood of x is smooth.
template <class T>
T step_at(T x, T part = 1) {
  const T unit = part * std::max(std::fabs(x), T(1)) * std::pow(std::numeric_limits<T>::epsilon(), T(0.2));
  const volatile T above = x + unit;  // the step that the argument really takes
  return above - x;
}

/// The derivative of a function whose value n steps of size h away is `value(n)`.
template <class T, class Value>
T five_point(const Value& value, T h) {
  return (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * h);
}

/// The derivative at x of a function of one number. The step is halved as long as the result settles, since a
/// pole or the end of where the function is defined may be near.
template <class T, class Function>
T derivative_at(const Function& function, T x) {
  const auto with = [&](T part) {
    const T h = step_at(x, part);
    return five_point([&](int steps) { return function(x + static_cast<T>(steps) * h); }, h);
  };
  T best = with(1);
  T change = std::numeric_limits<T>::infinity();
  for (T part = T(0.5); part > T(1e-3); part /= 2) {
    const T next = with(part);
    const T moved = std::fabs(next - best);
    if (!std::isnan(best)) {
      if (!(moved < change)) break;
      change = moved;
    }
    best = next;
  }
  return best;
}

/// The argument number `index`, moved by `multiplier` steps if it is number `moved`, and the size of a step,
/// which is chosen here while it is 0. Argument-dependent lookup finds the overload for a class. For an array
/// of `length` elements, `arg` is the one at `element`.
template <class T>
T updateIndexParamValue(T arg, std::size_t index, std::size_t moved, int multiplier, precision& step,
                        [[maybe_unused]] std::size_t length = 0, [[maybe_unused]] std::size_t element = 0) {
  if (index != moved) return arg;
  if constexpr (std::is_floating_point_v<T>) {
    if (step == 0) step = static_cast<precision>(step_at(arg));
    return arg + static_cast<T>(multiplier) * static_cast<T>(step);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return arg;
  } else {
    throw std::invalid_argument(
        "clad: differences in an argument of a class need an updateIndexParamValue() of that class");
  }
}

namespace detail {

/// The derivative with respect to argument I or, for an array, to one of its `length` elements.
template <std::size_t I, class F, class... A>
precision partial(F& f, const std::tuple<A...>& args, std::size_t length, std::size_t element,
                  bool print_errors) {
  precision step = 0;
  precision largest = 0;
  const auto value = [&](int multiplier) {
    std::tuple<A...> at = args;
    const auto run = [&](auto& number) {
      const auto before = number;
      number = updateIndexParamValue(before, I, I, multiplier, step, length, element);
      const auto result = static_cast<precision>(std::apply(f, at));
      number = before;
      largest = std::max(largest, std::fabs(result));
      return result;
    };
    if constexpr (std::is_pointer_v<std::tuple_element_t<I, std::tuple<A...>>>)
      return run(std::get<I>(at)[element]);
    else
      return run(std::get<I>(at));
  };
  const precision above = value(1);
  if (step == 0) return 0;  // a whole number has no derivative
  const precision below = value(-1);
  const auto again = [&](int multiplier) {
    return multiplier == 1 ? above : multiplier == -1 ? below : value(multiplier);
  };
  const precision derivative = five_point(again, step);
  if (print_errors)
    std::printf("Error estimate of the derivative with respect to argument %zu, element %zu: %g\n", I,
                element,
                std::fabs(derivative - (above - below) / (2 * step)) +
                    largest * std::numeric_limits<precision>::epsilon() / step);
  return derivative;
}

}  // namespace detail

/// The derivative of f(args...) with respect to the argument number `n`, which is `arg`; for a pointer, with
/// respect to the first element.
template <class F, class T, class... Args>
precision forward_central_difference(F f, const T&, std::size_t n, bool printErrors, Args&&... args) {
  if (n >= sizeof...(Args))
    throw std::invalid_argument("clad: differences in an argument that the function does not have");
  const std::tuple<std::decay_t<Args>...> at(args...);
  precision derivative = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (void)((I == n && ((derivative = detail::partial<I>(f, at, 1, 0, printErrors)), true)) || ...);
  }(std::index_sequence_for<Args...>{});
  return derivative;
}

/// All derivatives of f(args...). Each is stored where `grad` says for its argument: grad[i] is a number, or
/// a clad::array_ref for the elements of an array.
template <class F, class Gradient, class... Args>
void central_difference(F f, Gradient&& grad, bool printErrors, Args&&... args) {
  const std::tuple<std::decay_t<Args>...> at(args...);
  const auto store = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    auto& to = grad[I];
    if constexpr (requires { to.size(); }) {
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(
            detail::partial<I>(f, at, to.size(), i, printErrors));
    } else {
      to = static_cast<std::remove_reference_t<decltype(to)>>(detail::partial<I>(f, at, 1, 0, printErrors));
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (store(std::integral_constant<std::size_t, I>{}), ...);
  }(std::index_sequence_for<Args...>{});
}

}  // namespace numerical_diff
