// Runs a fuzzed program with numbers that record (cladtorch/graph) in the place of double.
#pragma once

#include "clad/test/fuzz/check.h"
#include "cladtorch/graph/grad.h"

template <>
inline constexpr bool clad::test::is_number<cladtorch::graph::Var> = true;

/// What the programs find in the place of std.
namespace graph_std {
using namespace std;
#define CLAD_TEST_FUNCTION(name) \
  using std::name;               \
  using cladtorch::graph::name;
CLADTORCH_GRAPH_UNARY(CLAD_TEST_FUNCTION)
CLADTORCH_GRAPH_BINARY(CLAD_TEST_FUNCTION)
CLADTORCH_GRAPH_TERNARY(CLAD_TEST_FUNCTION)
#undef CLAD_TEST_FUNCTION
}  // namespace graph_std

namespace clad::test {

/// The gradient of F(x) = f(x) + w y(x), where `d` comes in as w; see check.h.
template <class Arguments, class F>
void graph_gradient(const numbers& x, numbers& d, F&& f) {
  using cladtorch::graph::Var;
  const cladtorch::graph::Scope scope;
  Arguments arguments;
  std::vector<Var> inputs;
  arguments.reals([&](Var& v) { inputs.push_back(v = cladtorch::graph::variable(x[inputs.size()])); });
  Var sum = f(arguments);
  std::size_t i = 0;
  arguments.reals([&](Var& v) { sum += d[i++] * v; });
  const cladtorch::graph::Cotangents cotangents(sum, inputs);
  for (i = 0; i < d.size(); ++i) d[i] = cotangents[inputs[i]].value;
}

}  // namespace clad::test
