// The code of docs/computation-graph.md, and its pictures.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "clad/Differentiator/Differentiator.h"
#include "cladtorch/graph/draw.h"
#include "cladtorch/graph/gradcheck.h"
#include "cladtorch/graph/tensors.h"
#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/ops.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

void expect_picture(const std::string& name, const std::string& svg) {
  const std::string path = CLADTORCH_DOCS "/computation-graph-" + name + ".svg";
  if (std::getenv("CLADTORCH_UPDATE_DOCS")) std::ofstream(path) << svg;
  std::ifstream file(path);
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_TRUE(stored.str() == svg) << path
                                   << " is stale; renew it with CLADTORCH_UPDATE_DOCS=1 ctest -R GraphPage";
}

TEST(GraphPage, GoesThroughTheGraphStepByStep) {
  using namespace graph;
  graph::Scope scope;
  const graph::Var x1 = graph::variable(3, "x1"), x2 = graph::variable(0.5, "x2");
  const graph::Var y = x1 + exp(1.5 * x1 + 2.0 * x2);
  EXPECT_NEAR(y.value, 247.692, 5e-4);

  const graph::Node& last = *y.node;
  EXPECT_STREQ(last.function, "+");
  EXPECT_EQ(last.value, y.value);
  EXPECT_EQ(last.arguments.size(), 2u);
  EXPECT_EQ(last.parents()[0], x1.node);
  EXPECT_STREQ(last.parents()[1]->function, "exp");
  expect_picture("forward", to_svg(graph::draw(y)));

  std::string order;
  for (const graph::Node* node : graph::topological_sort({&y, 1})) {
    order += std::string(node->function) + " ";
  }
  EXPECT_EQ(order, "+ exp + * * x2 x1 ");

  const auto d = graph::backward(y);
  const graph::Var d_x1 = d[x1], d_x2 = d[x2];
  EXPECT_NEAR(d_x1.value, 368.038, 5e-4);
  EXPECT_NEAR(d_x2.value, 489.384, 5e-4);
  expect_picture("backward", to_svg(graph::draw({d_x1, d_x2}, y)));

  EXPECT_NEAR(graph::backward(d_x1)[x1].value, 2.25 * std::exp(5.5), 1e-10);
  EXPECT_NEAR(graph::backward(d_x1)[x2].value, 3 * std::exp(5.5), 1e-10);
  EXPECT_NEAR(d_x1.value, 1 + 1.5 * std::exp(5.5), 1e-10);
}

template <class T>
T f(T x1, T x2) {
  using std::exp;
  return x1 + exp(1.5 * x1 + 2.0 * x2);
}

TEST(GraphPage, HasTheBitsOfTheCompiledGradient) {
  const auto [d_x1, d_x2] = graph::grad(f<graph::Var>)(3.0, 0.5);

  auto compiled = clad::gradient(f<double>);
  double c_x1 = 0, c_x2 = 0;
  compiled.execute(3, 0.5, &c_x1, &c_x2);
  EXPECT_EQ(d_x1, c_x1);
  EXPECT_EQ(d_x2, c_x2);

  const auto along_x1 = [](const graph::Var& x1) { return f<graph::Var>(x1, 0.5); };
  const double third = graph::grad(graph::grad(graph::grad(along_x1)))(3.0).value;
  EXPECT_NEAR(third, 3.375 * std::exp(5.5), 1e-9);
}

double cube_of(double x) { return x * x * x; }

TEST(GraphPage, TakesPrimitivesOfOnesOwn) {
  using graph::Var;
  graph::Primitive cube("cube", cube_of);
  defvjp(cube, [](const Var&, const Var& x, const Var& d_y) { return 3 * x * x * d_y; });
  const double second = graph::grad(graph::grad(cube))(2.0).value;
  EXPECT_EQ(second, 12);
}

TEST(GraphPage, ChecksGradients) {
  const auto on_graph = [](const std::vector<graph::Var>& x) { return f(x[0], x[1]); };
  const graph::GradCheck check = graph::gradcheck(on_graph, {3, 0.5});
  EXPECT_LT(check.precision, 1e-4);

  auto compiled = clad::gradient(f<double>);
  graph::gradcheck([](const std::vector<double>& x) { return f(x[0], x[1]); },
                   [&](const std::vector<double>& x) {
                     std::vector<double> d(2);
                     compiled.execute(x[0], x[1], &d[0], &d[1]);
                     return d;
                   },
                   {3, 0.5});
}

TEST(GraphPage, FoldsALargeGraph) {
  const graph::Scope scope;
  graph::Var x = graph::variable(0.3, "x"), rate = graph::variable(3.7, "rate");
  for (int i = 0; i < 300; ++i) x = rate * x * (1 - x);
  expect_picture("folded", to_svg(graph::draw(x, 20)));
}

struct Perceptron {
  nn::Linear hidden, out;

  explicit Perceptron(Random& random) : hidden(4, 8, random), out(8, 3, random) {}
  Tensor forward(const Tensor& x) const { return out(relu(hidden(x))); }
  CLADTORCH_PARAMETERS(hidden, out)
};
Tensor mean_loss(const Perceptron& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels);
}
double loss(const Perceptron& model, const Tensor& x, const Tensor& labels) {
  return mean_loss(model, x, labels).item();
}

TEST(GraphPage, RecordsModels) {
  Random random(1);
  const Perceptron model(random);
  const Tensor x = randn({5, 4}, random), labels = from_values<int32_t>({5}, {0, 1, 2, 0, 1});
  {
    Perceptron gradient = like(model);
    const Tensor value = graph::value_and_grad(mean_loss, model, &gradient, x, labels);

    Perceptron compiled = like(model);
    auto step = clad::value_and_gradient(loss, "model");
    EXPECT_EQ(step.execute(model, x, labels, &compiled), value.item());
    for (size_t i = 0; i < named_parameters(model).size(); ++i)
      EXPECT_TRUE(
          testing::same_bits(named_parameters(gradient)[i].tensor, named_parameters(compiled)[i].tensor));
  }
  Tensor d_x;
  graph::TensorGraph graph;
  const Tensor value = mean_loss(model, graph.variable(x, &d_x), labels);
  expect_picture("tensors", to_svg(graph::draw(graph)));
  graph.backward(value);
  EXPECT_EQ(d_x.shape(), x.shape());
}

}  // namespace
}  // namespace cladtorch
