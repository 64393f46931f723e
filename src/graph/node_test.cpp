// The graph itself: what is recorded, in which order nodes come, and how long they live.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GraphNode, HoldsValueFunctionArgumentsAndParents) {
  const Scope scope;
  const Var x = variable(3, "x"), y = 2 * x;
  ASSERT_NE(y.node, nullptr);
  EXPECT_EQ(y.node->value, 6);
  EXPECT_STREQ(y.node->function, "*");
  ASSERT_EQ(y.node->arguments.size(), 2u);
  EXPECT_EQ(y.node->arguments[0].value, 2);
  EXPECT_EQ(y.node->arguments[0].node, nullptr);
  EXPECT_EQ(y.node->parents(), std::vector{x.node});
  EXPECT_STREQ(x.node->function, "x");
  EXPECT_TRUE(x.node->parents().empty());
}

TEST(GraphNode, IsNotMadeOfConstantsOrOutsideAScope) {
  const Var y = exp(Var(1)) + 2;
  EXPECT_EQ(y.node, nullptr);
  const Scope scope;
  EXPECT_EQ((Var(3) * 2).node, nullptr);
  EXPECT_EQ(stop_gradient(variable(3)).node, nullptr);
  const Var x = variable(2);
  const Scope silent(false);
  EXPECT_EQ((x * x).node, nullptr);
  EXPECT_EQ(x * x, 4);
}

TEST(TopologicalSort, PutsEachNodeOnceAndBeforeItsArguments) {
  const Scope scope;
  const Var x = variable(0.5), a = x * x, b = exp(a) + a, c = b / x - a * b;
  const auto order = topological_sort(std::span(&c, 1));
  std::set<const Node*> seen;
  for (const Node* node : order) {
    for (const Node* parent : node->parents()) EXPECT_FALSE(seen.contains(parent));
    EXPECT_TRUE(seen.insert(node).second);
  }
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(order.front(), c.node);
  EXPECT_EQ(order.back(), x.node);
}

TEST(TopologicalSort, TakesUnnamedOperandsFirstThenTheLatest) {
  const Scope scope;
  const Var x = variable(2), y = variable(3), a = x * 5, b = y * 7;
  const Var c = (a * 2 + b * 3) * exp(x);
  std::string order;
  for (const Node* node : topological_sort(std::span(&c, 1)))
    order += std::string(node->function) + std::to_string(static_cast<int>(node->value)) + " ";
  EXPECT_EQ(order, "*613 +83 *20 *63 exp7 *21 *10 x3 x2 ");
}

TEST(TopologicalSort, LeavesOutWhatTheRootsDoNotNeed) {
  const Scope scope;
  const Var x = variable(2), unused = exp(x), y = x * 3;
  EXPECT_EQ(topological_sort(std::span(&y, 1)), (std::vector{y.node, x.node}));
  EXPECT_EQ(topological_sort(std::span(&y, 1), y.node->index), std::vector{y.node});
  EXPECT_EQ(topological_sort(std::span(&unused, 1)).size(), 2u);
}

TEST(TopologicalSort, TakesAChainOfAMillionNodes) {
  const Scope scope;
  const Var x = variable(1);
  Var y = x;
  for (int i = 0; i < 1'000'000; ++i) y = y * 1.000001;
  const double slope = backward(y)[x].value;
  EXPECT_NEAR(slope, std::exp(1.0), 1e-5);
}

TEST(GraphScope, EndsTheNodesThatItRecorded) {
  Var x, y;
  {
    const Scope scope;
    x = variable(3);
    y = x * x;
  }
  EXPECT_EQ(static_cast<double>(y), 9);
  for (const auto& use : {error_of([&] { y * 2; }), error_of([&] { sin(y); }), error_of([&] { backward(y); }),
                          error_of([&] { grad([](const Var& v) { return v; })(y); })}) {
    EXPECT_NE(use.find("was recorded in a Scope that has ended"), std::string::npos) << use;
  }
  const Scope other;
  variable(1);
  EXPECT_NE(error_of([&] { y + 1; }).find("graph: +: an argument was recorded in a Scope that has ended"),
            std::string::npos);
  EXPECT_EQ(stop_gradient(y) + 1, 10);
}

TEST(GraphScope, MayNest) {
  const Scope outer;
  const Var x = variable(2), a = x * x;
  Var lost;
  {
    const Scope inner;
    const Var b = a * x;
    EXPECT_EQ(backward(b)[x], 12);
    lost = b;
  }
  const Var c = a + x;
  EXPECT_EQ(backward(c)[x], 5);
  EXPECT_NE(error_of([&] { lost + 1; }), "");
}

TEST(GraphScope, ThatEndsFirstEndsThoseInIt) {
  auto outer = std::make_unique<Scope>();
  const auto inner = std::make_unique<Scope>();
  const Var x = variable(2);
  outer.reset();
  EXPECT_NE(error_of([&] { x + 1; }), "");
  EXPECT_NE(error_of([] { variable(1, "w"); }).find("graph: 'w' needs an open Scope"), std::string::npos);
}

TEST(GraphScope, IsLeftByAnException) {
  Var x;
  EXPECT_THROW(
      {
        const Scope scope;
        x = variable(1);
        fail("stop");
      },
      Error);
  EXPECT_EQ((Var(2) * 3).node, nullptr);
  EXPECT_THROW(grad([](const Var& v) -> Var { return fail("stop"), v; })(1.0), Error);
  EXPECT_THROW(variable(1), Error);
}

TEST(GraphScope, IsOfItsThread) {
  const Scope scope;
  const Var x = variable(3);
  std::string other;
  double slope = 0;
  std::thread([&] {
    other = error_of([&] { x * 2; });
    EXPECT_THROW(variable(1), Error);
    slope = grad([](const Var& v) { return v * v * v; })(2.0).value;
  }).join();
  EXPECT_NE(other.find("another thread's"), std::string::npos);
  EXPECT_EQ(slope, 12);
  EXPECT_EQ(backward(x * x)[x], 6);
}

}  // namespace
}  // namespace cladtorch::graph
