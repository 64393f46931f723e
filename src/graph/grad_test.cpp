// Derivatives: what reaches an input and what does not, of any order.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

TEST(GraphGrad, SumsOverSharedSubexpressionsAndDiamonds) {
  const auto diamond = [](const Var& x) {
    const Var a = x * x, b = a * 2, c = exp(a);
    return b * c + a;
  };
  const double x = 0.7, a = x * x;
  EXPECT_DOUBLE_EQ(grad(diamond)(x).value, (2 * std::exp(a) + 2 * a * std::exp(a) + 1) * 2 * x);
  EXPECT_EQ(grad([](const Var& v) { return v + v + v; })(5), 3);
}

TEST(GraphGrad, IsZeroOfUnusedInputsAndConstants) {
  const auto [d_x, d_y] = grad([](const Var& x, const Var&) { return x * 2; })(1.0, 2.0);
  EXPECT_EQ(d_x, 2);
  EXPECT_EQ(d_y, 0);
  EXPECT_EQ(grad([](const Var&) { return Var(3); })(1.0), 0);
  EXPECT_EQ(grad([](const Var& x) { return x * stop_gradient(x); })(3.0), 3);
  const Scope scope;
  const Var x = variable(1), y = variable(2), later = x * y;
  EXPECT_EQ(backward(x * 2)[y], 0);
  EXPECT_EQ(backward(x * 2)[later], 0);
  EXPECT_THROW(backward(Var(3)), Error);
}

TEST(GraphGrad, PassesNaNAndInfinityOn) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(isnan(grad([](const Var& x) { return x * x; })(nan)));
  EXPECT_TRUE(isnan(grad([](const Var& x) { return 0 * sqrt(x); })(0.0)));
  EXPECT_TRUE(isinf(grad([](const Var& x) { return sqrt(x); })(0.0)));
  EXPECT_EQ(grad([](const Var& x) { return relu(x) + 1; })(-1.0), 0);
}

TEST(GraphGrad, ReturnsWhatTheArgumentsLookLike) {
  const auto norm = [](const std::vector<Var>& v) {
    Var sum = 0;
    for (const Var& x : v) sum += x * x;
    return sum;
  };
  const auto [value, d] = value_and_grad(norm)(std::vector<Var>{1, 2, 3});
  EXPECT_EQ(value, 14);
  EXPECT_EQ(d, (std::vector<Var>{2, 4, 6}));
  EXPECT_EQ(d[0].node, nullptr);
  const auto mixed = [](const std::array<Var, 2>& a, const Var& x) { return a[0] * a[1] * x; };
  const auto [d_a, d_x] = grad(mixed)(std::array<Var, 2>{2, 3}, 5.0);
  EXPECT_EQ(d_a[0], 15);
  EXPECT_EQ(d_x, 6);
}

TEST(GraphGrad, TakesNoVariablesAtAll) {
  const Primitive cube("cube", [](double x) { return x * x * x; });
  const Scope scope;
  const Var x = cube(variable(2));
  const auto [value, d] = value_and_grad([&](const std::vector<Var>&) { return x * 2; })(std::vector<Var>());
  EXPECT_EQ(value, 16);
  EXPECT_TRUE(d.empty());
}

struct Line {
  Var slope;
  std::vector<Var> offsets;
  template <class Visit>
  void variables(const Visit& visit) {
    visit(slope, offsets);
  }
};
TEST(GraphGrad, TakesAClassThatNamesItsVariables) {
  const auto at = [](const Line& line, double x) {
    return [=](const Line& l) { return l.slope * x + l.offsets[0] * l.offsets[1]; }(line);
  };
  const Line d = grad([&](const Line& line) { return at(line, 7); })(Line{2, {3, 4}});
  EXPECT_EQ(d.slope, 7);
  EXPECT_EQ(d.offsets, (std::vector<Var>{4, 3}));
}

TEST(GraphGrad, NestsToAnyOrder) {
  const auto f = [](const Var& x) { return exp(2 * x); };
  EXPECT_NEAR(grad(grad(grad(grad(f))))(0.3).value, 16 * std::exp(0.6), 1e-13);
  const auto hessian = grad([](const Var& x, const Var& y) {
    const auto [d_x, d_y] = grad([](const Var& a, const Var& b) { return a * a * b * b * b; })(x, y);
    return d_x;
  })(2.0, 3.0);
  EXPECT_EQ(std::get<0>(hessian), 2 * 27);
  EXPECT_EQ(std::get<1>(hessian), 4 * 27);
}

TEST(GraphGrad, KeepsInnerAndOuterVariablesApart) {
  const auto inner = [](const Var& x) { return grad([&](const Var& y) { return x * y; })(x); };
  EXPECT_EQ(grad([&](const Var& x) { return x * inner(x); })(3.0), 6);
  EXPECT_EQ(grad([&](const Var& x) { return x * grad([&](const Var& y) { return x + y; })(1.0); })(3.0), 1);
}

TEST(Backward, GivesTheCotangentOfEveryNode) {
  const Scope scope;
  const Var x = variable(3), a = x * x, b = sin(a), y = b * 2;
  const auto d = backward(y);
  EXPECT_EQ(d[y], 1);
  EXPECT_EQ(d[b], 2);
  EXPECT_EQ(d[a], 2 * std::cos(9.0));
  EXPECT_EQ(d[x].value, 2 * (2 * std::cos(9.0)) * 3);
  EXPECT_NE(d[x].node, nullptr);
  EXPECT_NEAR(backward(d[x])[x].value, 4 * std::cos(9.0) - 72 * std::sin(9.0), 1e-12);
}

TEST(Backward, DoesNotComputeAFunctionAgainThatItsRuleCalls) {
  const Scope scope;
  const Var x = variable(0.5), y = exp(x);
  EXPECT_EQ(backward(y)[x].node->arguments[1].node, y.node);
}

const auto cubed = [](double x) { return x * x * x; };

TEST(Defvjp, GivesAUsersOwnPrimitiveItsRule) {
  Primitive cube("cube", cubed);
  defvjp(cube, [](const Var&, const Var& x, const Var& d_y) { return 3 * x * x * d_y; });
  EXPECT_EQ(grad(cube)(2.0), 12);
  EXPECT_EQ(grad(grad(cube))(2.0), 12);
  EXPECT_EQ(grad(grad(grad(cube)))(2.0), 6);
  const Scope scope;
  EXPECT_STREQ(cube(variable(2)).node->function, "cube");
}

TEST(Defvjp, TakesARuleForEachArgument) {
  Primitive product("product", [](double a, double b) { return a * b; });
  defvjp(
      product, [](const Var&, const Var&, const Var& b, const Var& d) { return b * d; },
      [](const Var&, const Var& a, const Var&, const Var& d) { return a * d; });
  const auto [d_a, d_b] = grad(product)(2.0, 3.0);
  EXPECT_EQ(d_a, 3);
  EXPECT_EQ(d_b, 2);
}

std::string refusal(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Defvjp, IsAskedForByNameOnTheWayToAWantedGradientAlone) {
  const Primitive cube("cube", cubed);
  EXPECT_EQ(refusal([&] { grad(cube)(2.0); }),
            "graph: 'cube' has no rule for its derivative; give it one with defvjp()");
  const auto outer = [&](const Var& x) {
    return x * stop_gradient(grad([&](const Var& y) { return y * cube(x * 2); })(1.0));
  };
  EXPECT_EQ(grad(outer)(1.0), 8);
}

TEST(Defvjp, RuleOutlivesItsPrimitive) {
  const Scope scope;
  const Var x = variable(2);
  Var y;
  {
    Primitive cube("cube", cubed);
    defvjp(cube, [](const Var&, const Var& v, const Var& d) { return 3 * v * v * d; });
    y = cube(x);
  }
  EXPECT_EQ(backward(y)[x], 12);
}

}  // namespace
}  // namespace cladtorch::graph
