// Numbers that record what is computed with them. A program that is a template over its type of numbers runs
// with double and with Var; by either it has the same value, and the same gradient as clad::gradient gives.
//
//   graph::Scope scope;
//   const graph::Var x = graph::variable(3, "x"), y = x * exp(x);
//   const graph::Var slope = graph::backward(y)[x];  // recorded too: backward(slope)[x] is the curvature
//
// Nobody typed the rules of the functions here: those of <cmath> are the pullbacks that compiled gradients
// call, and those of cladtorch/ops/functions are what the plugin derived, of Var instead of double.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>

#include "clad/Differentiator/SpecialFunctions.h"
#include "cladtorch/graph/node.h"
#include "cladtorch/ops/functions/slope.h"

namespace cladtorch::graph {

template <class T>
concept IsVar = std::same_as<std::remove_cvref_t<T>, Var>;
template <class A, class B>
concept Operands =
    (IsVar<A> || IsVar<B>) && std::convertible_to<A, const Var&> && std::convertible_to<B, const Var&>;

/// An independent variable. The name, a literal, is what drawings show. Throws Error if no scope is open.
inline Var variable(double value, const char* name = "x") {
  return Tape::of_thread().push(name, value)->variable();
}
/// The value as a constant.
inline Var stop_gradient(const Var& x) { return x.value; }

}  // namespace cladtorch::graph

/// So that the rules take it.
template <>
inline constexpr bool clad::builtin_derivatives::is_real<cladtorch::graph::Var> = true;

namespace cladtorch::graph {

/// Notes which operands are unnamed parts of an expression.
Var record_operator(const char* name, double value, std::span<const Var, 2> operands, const Pullback& rule,
                    std::array<bool, 2> is_temporary);
Var operator-(const Var& x);
inline Var operator+(const Var& x) { return x; }
#define CLADTORCH_OPERATOR(op, rule)                                                          \
  extern const Pullback rule;                                                                 \
  template <class A, class B>                                                                 \
    requires Operands<A, B>                                                                   \
  Var operator op(A&& a, B&& b) {                                                             \
    const std::array<Var, 2> operands{a, b};                                                  \
    return record_operator(#op, operands[0].value op operands[1].value, operands, rule,       \
                           {!std::is_lvalue_reference_v<A>, !std::is_lvalue_reference_v<B>}); \
  }                                                                                           \
  template <class B>                                                                          \
    requires Operands<Var, B>                                                                 \
  Var& operator op##=(Var & a, B && b) {                                                      \
    const Var y(b);                                                                           \
    const bool is_first = #op[0] == '+' && !a.node && a.value == 0 && y.value != 0;           \
    return a = is_first ? y : a op std::forward<B>(b);                                        \
  }
CLADTORCH_OPERATOR(+, plus_rule)
CLADTORCH_OPERATOR(-, minus_rule)
CLADTORCH_OPERATOR(*, times_rule)
CLADTORCH_OPERATOR(/, divided_rule)
#undef CLADTORCH_OPERATOR
#define CLADTORCH_COMPARISON(op)             \
  template <class A, class B>                \
    requires Operands<A, B>                  \
  bool operator op(const A& a, const B& b) { \
    return Var(a).value op Var(b).value;     \
  }
CLADTORCH_COMPARISON(==)
CLADTORCH_COMPARISON(!=)
CLADTORCH_COMPARISON(<)
CLADTORCH_COMPARISON(>)
CLADTORCH_COMPARISON(<=)
CLADTORCH_COMPARISON(>=)
#undef CLADTORCH_COMPARISON

// The functions of <cmath>, and what the functions of cladtorch/ops/functions call besides.
// clang-format off
#define CLADTORCH_GRAPH_UNARY(X) \
  X(abs) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(erf) X(erfc) X(exp) \
  X(exp2) X(expm1) X(fabs) X(floor) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(nearbyint) X(rint) \
  X(round) X(sin) X(sinh) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc)
#define CLADTORCH_GRAPH_BINARY(X) \
  X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(pow) X(remainder)
#define CLADTORCH_GRAPH_TERNARY(X) X(fma) X(hypot)
#define CLADTORCH_GRAPH_PRIMITIVE(X) \
  X(falling_sigmoid) X(normal_density) X(normal_distribution) X(sigmoid) X(sign)
// clang-format on
#define CLADTORCH_DECLARE(name) Var name(const Var& x);
CLADTORCH_GRAPH_UNARY(CLADTORCH_DECLARE)
CLADTORCH_GRAPH_PRIMITIVE(CLADTORCH_DECLARE)
#undef CLADTORCH_DECLARE
#define CLADTORCH_DECLARE(name) Var name(const Var& a, const Var& b);
CLADTORCH_GRAPH_BINARY(CLADTORCH_DECLARE)
#undef CLADTORCH_DECLARE
#define CLADTORCH_DECLARE(name) Var name(const Var& a, const Var& b, const Var& c);
CLADTORCH_GRAPH_TERNARY(CLADTORCH_DECLARE)
#undef CLADTORCH_DECLARE
/// As the plugin replaces std::lerp.
inline Var lerp(const Var& a, const Var& b, const Var& t) { return a + t * (b - a); }
inline Var where(bool condition, const Var& a, const Var& b) { return condition ? a : b; }
inline bool signbit(const Var& x) { return std::signbit(x.value); }
inline bool isnan(const Var& x) { return std::isnan(x.value); }
inline bool isinf(const Var& x) { return std::isinf(x.value); }
inline bool isfinite(const Var& x) { return std::isfinite(x.value); }

/// A function of cladtorch/ops/functions, or one that is written like them, as one node. Its parameters are
/// constants.
template <class F>
Var apply(const F& f, const Var& x) {
  constexpr int parameters = functions::parameter_count<F>;
  static const Pullback rule = [](Node& node, const Var& d_y, std::span<Var* const> d) {
    std::array<double, parameters> values{};
    for (int i = 0; i < parameters; ++i) values[i] = node.arguments[i + 1].value;
    const Var at = functions::HasSlopeOfResult<F> ? node.variable() : node.arguments[0];
    if constexpr (parameters == 0) {
      *d[0] += d_y * functions::slope_at(F(), at);
    } else {
      *d[0] += d_y * functions::slope_at(std::bit_cast<F>(values), at);
    }
  };
  std::array<Var, 1 + parameters> arguments{x};
  if constexpr (parameters > 0)
    std::ranges::copy(std::bit_cast<std::array<double, parameters>>(f), arguments.begin() + 1);
  return Tape::of_thread().record(F::name, f(x.value), arguments, &rule);
}
template <class F>
  requires std::is_empty_v<F>
Var apply(const F& f, const Var& a, const Var& b) {
  static const Pullback rule = [](Node& node, const Var& d_y, std::span<Var* const> d) {
    const Var &a = node.arguments[0], &b = node.arguments[1];
    if (d[0]) *d[0] += d_y * functions::first_slope(F(), a, b);
    if (d[1]) *d[1] += d_y * functions::second_slope(F(), a, b);
  };
  return Tape::of_thread().record(F::name, f(a.value, b.value), std::array{a, b}, &rule);
}

// PyTorch's functions that <cmath> has not. Its round and remainder differ from those of <cmath>, which are
// meant by these names here: they are apply(functions::Round(), x) and apply(functions::Remainder(), a, b).
// clang-format off
#define CLADTORCH_GRAPH_FUNCTIONS(X) \
  X(bounded_log, BoundedLog) X(gelu_erf, GeluErf) X(gelu_tanh, GeluTanh) X(hardsigmoid, Hardsigmoid) \
  X(hardswish, Hardswish) X(logsigmoid, LogSigmoid) X(mish, Mish) X(reciprocal, Reciprocal) X(relu, Relu) \
  X(rsqrt, Rsqrt) X(selu, Selu) X(silu, Silu) X(softsign, Softsign) X(square, Square) X(tanhshrink, Tanhshrink)
#define CLADTORCH_GRAPH_FUNCTIONS_OF_TWO(X) \
  X(logaddexp, Logaddexp) X(maximum, Maximum) X(minimum, Minimum) X(prelu, Prelu) X(xlogy, Xlogy)
// clang-format on
#define CLADTORCH_DEFINE(name, F) \
  inline Var name(const Var& x) { return apply(functions::F(), x); }
CLADTORCH_GRAPH_FUNCTIONS(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE
#define CLADTORCH_DEFINE(name, F) \
  inline Var name(const Var& a, const Var& b) { return apply(functions::F(), a, b); }
CLADTORCH_GRAPH_FUNCTIONS_OF_TWO(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE
inline Var celu(const Var& x, double alpha = 1) { return apply(functions::Celu{alpha}, x); }
inline Var clamp(const Var& x, double low, double high) { return apply(functions::Clamp{low, high}, x); }
inline Var elu(const Var& x, double alpha = 1) { return apply(functions::Elu{alpha}, x); }
inline Var hardshrink(const Var& x, double limit = 0.5) { return apply(functions::Hardshrink{limit}, x); }
inline Var leaky_relu(const Var& x, double slope = 0.01) { return apply(functions::LeakyRelu{slope}, x); }
inline Var softplus(const Var& x, double beta = 1, double limit = 20) {
  return apply(functions::Softplus{beta, limit}, x);
}
inline Var softshrink(const Var& x, double limit = 0.5) { return apply(functions::Softshrink{limit}, x); }
inline Var threshold(const Var& x, double limit, double value) {
  return apply(functions::Threshold{limit, value}, x);
}

}  // namespace cladtorch::graph
