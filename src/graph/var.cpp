#include "cladtorch/graph/var.h"

namespace cladtorch::graph {

namespace {

using D = std::span<Var* const>;

Var record(const char* name, double value, std::span<const Var> arguments, const Pullback& rule) {
  return Tape::of_thread().record(name, value, arguments, &rule);
}
/// With the rule of a pullback that takes an adjoint for each argument.
template <class F, class... X>
Var record_call(const char* name, double value, F, const X&... x) {
  static const Pullback rule = [](Node& node, const Var& d_y, D d) {
    std::array<Var, sizeof...(X)> unused;
    [&]<size_t... I>(std::index_sequence<I...>) {
      F()(node.arguments[I]..., d_y, (d[I] ? d[I] : &unused[I])...);
    }(std::index_sequence_for<X...>());
  };
  return record(name, value, std::array<Var, sizeof...(X)>{x...}, rule);
}

}  // namespace

Var record_operator(const char* name, double value, std::span<const Var, 2> operands, const Pullback& rule,
                    std::array<bool, 2> is_temporary) {
  const Var y = record(name, value, operands, rule);
  if (!y.node) return y;
  y.node->is_operator = true;
  for (int i = 0; i < 2; ++i)
    if (operands[i].node) operands[i].node->is_temporary |= is_temporary[i];
  return y;
}

// The operators' derivatives in the form in which the plugin writes them: 2 d x of x * x, and one reciprocal
// for both operands of a / b.
const Pullback plus_rule = [](Node&, const Var& d_y, D d) {
  for (Var* to : d)
    if (to) *to += d_y;
};
const Pullback minus_rule = [](Node&, const Var& d_y, D d) {
  if (d[0]) *d[0] += d_y;
  if (d[1]) *d[1] -= d_y;
};
const Pullback times_rule = [](Node& node, const Var& d_y, D d) {
  const Var &a = node.arguments[0], &b = node.arguments[1];
  if (a.node == b.node) {
    *d[0] += 2 * d_y * a;
  } else {
    if (d[0]) *d[0] += d_y * b;
    if (d[1]) *d[1] += d_y * a;
  }
};
const Pullback divided_rule = [](Node& node, const Var& d_y, D d) {
  const Var &a = node.arguments[0], &b = node.arguments[1];
  if (!d[1]) {
    *d[0] += d_y / b;
  } else {
    const Var reciprocal = 1 / b, d_a = d_y * reciprocal;
    if (d[0]) *d[0] += d_a;
    *d[1] -= d_a * (a * reciprocal);
  }
};
Var input(const Var& x) { return Tape::of_thread().push("input", x.value, {&x, 1}, &plus_rule)->variable(); }
Var operator-(const Var& x) {
  static const Pullback rule = [](Node&, const Var& d_y, D d) { *d[0] -= d_y; };
  return record("-", -x.value, std::array{x}, rule);
}

#define CLADTORCH_PULLBACK(name) [](const auto&... x) { clad::builtin_derivatives::name##_pullback(x...); }
#define CLADTORCH_DEFINE(name) \
  Var name(const Var& x) { return record_call(#name, std::name(x.value), CLADTORCH_PULLBACK(name), x); }
CLADTORCH_GRAPH_UNARY(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE
#define CLADTORCH_DEFINE(name)                                                              \
  Var name(const Var& a, const Var& b) {                                                    \
    return record_call(#name, std::name(a.value, b.value), CLADTORCH_PULLBACK(name), a, b); \
  }
CLADTORCH_GRAPH_BINARY(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE
#define CLADTORCH_DEFINE(name)                                                                          \
  Var name(const Var& a, const Var& b, const Var& c) {                                                  \
    return record_call(#name, std::name(a.value, b.value, c.value), CLADTORCH_PULLBACK(name), a, b, c); \
  }
CLADTORCH_GRAPH_TERNARY(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE
#define CLADTORCH_DEFINE(name)                                              \
  Var name(const Var& x) {                                                  \
    return record_call(                                                     \
        #name, functions::name(x.value),                                    \
        [](const Var& v, const Var& d_y, Var* d) {                          \
          *d += d_y * functions::name##_pushforward(v, Var(1)).pushforward; \
        },                                                                  \
        x);                                                                 \
  }
CLADTORCH_GRAPH_PRIMITIVE(CLADTORCH_DEFINE)
#undef CLADTORCH_DEFINE

}  // namespace cladtorch::graph
