// Derivatives of functions of Var, of any order: grad(grad(f)) is the second.
#pragma once

#include "cladtorch/graph/var.h"

namespace cladtorch::graph {

/// The derivatives of a loss by every node that it was computed from, as variables: `backward(y)[x]`. They
/// are recorded, and can be differentiated again. Throws Error if the loss is a constant, or a function on
/// the way has no rule.
inline Cotangents backward(const Var& loss) {
  require(loss.node,
          "backward: the loss was not recorded; compute it from a variable() while a Scope is open");
  return Cotangents(loss);
}

/// Calls visit(Var&) with each variable of an argument: a Var, a range of arguments, or a class with a
/// member template `variables(visit)` that calls visit with its members.
template <class T, class Visit>
void for_each_variable(T& argument, const Visit& visit) {
  if constexpr (IsVar<T>) {
    visit(argument);
  } else if constexpr (std::ranges::range<T>) {
    for (auto& element : argument) for_each_variable(element, visit);
  } else {
    argument.variables([&](auto&... members) { (for_each_variable(members, visit), ...); });
  }
}

/// x under a node of its own, by which a function of it can be differentiated apart from other uses of x.
Var input(const Var& x);

/// A function of the same arguments as f that returns f's value and its gradient: a pair of a Var and what
/// an argument looks like, or a tuple of these if there are several. Numbers may be passed for Vars. Where
/// no scope is open the results are constants.
template <class F>
auto value_and_grad(F f) {
  return [f = std::move(f)]<class... A>(const A&... arguments) {
    Tape& tape = Tape::of_thread();
    std::optional<Scope> scope;
    if (!tape.is_recording()) scope.emplace();
    std::tuple<std::conditional_t<std::is_arithmetic_v<A>, Var, A>...> x(arguments...);
    const auto each = [&](const auto& visit) {
      std::apply([&](auto&... a) { (for_each_variable(a, visit), ...); }, x);
    };
    std::vector<Var> inputs;
    each([&](Var& v) { inputs.push_back(v = input(v)); });
    Var value = std::apply(f, std::as_const(x));
    if (!inputs.empty()) {
      std::optional<Scope> silent;
      if (scope) silent.emplace(false);
      const Cotangents d(value, inputs);
      each([&](Var& v) { v = scope ? Var(d[v].value) : d[v]; });
    }
    if (scope) value = value.value;
    if constexpr (sizeof...(A) == 1) {
      return std::pair(value, std::get<0>(x));
    } else {
      return std::pair(value, x);
    }
  };
}
/// The same without the value.
template <class F>
auto grad(F f) {
  return [f = value_and_grad(std::move(f))](const auto&... arguments) { return f(arguments...).second; };
}

/// A user's own function of numbers, recorded as one node under its name, a literal.
template <class F>
class Primitive {
 public:
  Primitive(const char* name, F f) : name_(name), f_(std::move(f)) {}

  template <std::convertible_to<const Var&>... A>
  Var operator()(const A&... arguments) const {
    const std::array<Var, sizeof...(A)> x{arguments...};
    Tape& tape = Tape::of_thread();
    tape.keep(rule_);
    return tape.record(name_, f_(Var(arguments).value...), x, rule_.get());
  }
  template <class G, class... Rules>
  friend void defvjp(Primitive<G>& primitive, Rules... rules);

 private:
  const char* name_;
  F f_;
  std::shared_ptr<Pullback> rule_ = std::make_shared<Pullback>();
};

/// Gives a primitive its vector-Jacobian products, one rule for each argument: a function of the value, the
/// arguments and the cotangent of the value, all Vars, that returns what is added to the cotangent of that
/// argument. Without rules a gradient through the primitive throws Error.
template <class F, class... Rules>
void defvjp(Primitive<F>& primitive, Rules... rules) {
  *primitive.rule_ = [name = primitive.name_, ... rules = std::move(rules)](Node& node, const Var& d_y,
                                                                            std::span<Var* const> d) {
    require(d.size() == sizeof...(rules), "graph: '", name, "' has ", d.size(), " arguments and ",
            sizeof...(rules), " rules");
    [&]<size_t... I>(std::index_sequence<I...>) {
      const auto add = [&](Var* to, const auto& rule) {
        if (to) *to += rule(node.variable(), node.arguments[I]..., d_y);
      };
      (add(d[I], rules), ...);
    }(std::index_sequence_for<Rules...>());
  };
}

}  // namespace cladtorch::graph
