#include "cladtorch/graph/tensors.h"

#include <gtest/gtest.h>

#include <thread>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/dlpack.h"
#include "tests/ops/catalogue.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace user {

using cladtorch::Tensor;

/// An operation of somebody else's, which nothing records.
Tensor doubled(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape(), cladtorch::DType::float64);
  const Tensor dense = x.contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) y.data<double>()[i] = 2 * dense.data<double>()[i];
  return y;
}

Tensor tripled(const Tensor& x);

}  // namespace user

namespace clad::custom_derivatives::user {
void tripled_pullback(const ::cladtorch::Tensor&, ::cladtorch::Tensor d_y, ::cladtorch::Tensor* d_x) {
  if (d_x && d_y.defined()) d_x->accumulate(scale(d_y, 3));
}
}  // namespace clad::custom_derivatives::user

/// One that is.
cladtorch::Tensor user::tripled(const Tensor& x) {
  using clad::custom_derivatives::user::tripled_pullback;
  CLADTORCH_RECORD(tripled, x);
  return scale(x, 3);
}

namespace cladtorch::graph {
namespace {

using testing::bound;
using testing::Bound;
using testing::normals;
using testing::Operation;
using testing::same_bits;
using testing::Tensors;

Tensor numbers(std::vector<double> values) {
  return from_values<double>({static_cast<int64_t>(values.size())}, values);
}

class EveryOperation : public ::testing::TestWithParam<Operation> {};

/// The graph calls the pullback that the catalogue calls, so the bits are the same.
TEST_P(EveryOperation, HasTheGradientOfItsPullback) {
  const Operation& operation = GetParam();
  for (const auto& shapes : operation.cases) {
    const Bound f = bound(operation, operation.draw(shapes));
    const Tensor plain = f.forward(f.x), d_y = normals({plain.shape()}, 9)[0];
    Tensors expected(f.x.size()), found(f.x.size()), x;
    std::vector<Tensor*> d;
    for (Tensor& one : expected) d.push_back(&one);
    f.pullback(f.x, d_y, d);

    TensorGraph graph;
    for (size_t i = 0; i < f.x.size(); ++i) x.push_back(graph.variable(f.x[i], &found[i]));
    const Tensor y = f.forward(x);
    EXPECT_LT(testing::relative_difference(clad::stop_gradient(y), plain), 1e-14) << shapes[0];
    graph.backward(y, d_y);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(same_bits(found[i], expected[i])) << "operand " << i << " of " << shapes[0];
  }
}
INSTANTIATE_TEST_SUITE_P(All, EveryOperation, ::testing::ValuesIn(testing::catalogue()),
                         [](const auto& info) { return info.param.name; });

TEST(TensorGraph, AddsWhatEachUseContributes) {
  Tensor d_x, d_w;
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2, 3}), &d_x), w = graph.variable(numbers({4, 5, 6}), &d_w);
  graph.backward(sum(x * w + x));
  EXPECT_TRUE(same_bits(d_x, numbers({5, 6, 7})));
  EXPECT_TRUE(same_bits(d_w, numbers({1, 2, 3})));
}

TEST(TensorGraph, FollowsViewsAndLists) {
  Tensor d;
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2, 3, 4}), &d);
  const Tensor square = x.reshape({2, 2}).transpose(0, 1);
  const std::vector<Tensor> halves = x.split(2, 0);
  const Tensor y = cat({halves[1], halves[1], square.select(0, 1)});
  graph.backward(sum(y * y));
  EXPECT_TRUE(same_bits(d, numbers({0, 4, 12, 24})));
}

TEST(TensorGraph, KnowsConstants) {
  Tensor d;
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2}), &d);
  EXPECT_EQ(clad::stop_gradient(x).select(0, 1).item(), 2);
  EXPECT_EQ(argmax(x, 0).item(), 1);
  EXPECT_EQ(sum(where(x > 1.5, 1, zeros_like(x))).item(), 1);
  EXPECT_NE(x.to_string().find("2"), std::string::npos);
  graph.backward(sum(x * clad::stop_gradient(x)));
  EXPECT_TRUE(same_bits(d, numbers({1, 2})));
}

TEST(TensorGraph, LeavesAlone) {
  Tensor d = numbers({10, 20}), unused;
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2}), &d), other = graph.variable(numbers({3}), &unused);
  const Tensor forgotten = x * other;
  graph.backward(sum(x));
  EXPECT_TRUE(same_bits(d, numbers({11, 21}))) << "a gradient that is there is added to";
  EXPECT_FALSE(unused.defined()) << "what the loss does not use has none";
}

TEST(TensorGraph, DiffersAtEveryStep) {
  for (int steps = 0; steps < 4; ++steps) {
    Tensor d;
    TensorGraph graph;
    const Tensor x = graph.variable(numbers({3}), &d);
    Tensor y = x;
    for (int i = 0; i < steps; ++i) y = y * x;
    graph.backward(y);
    EXPECT_EQ(d.item(), (steps + 1) * std::pow(3, steps));
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
#define EXPECT_REFUSED(call, part) \
  EXPECT_NE(error_of([&] { call; }).find(part), std::string::npos) << error_of([&] { call; })

TEST(TensorGraph, RefusesWhatItCannotFollow) {
  Tensor d;
  TensorGraph graph;
  Tensor x = graph.variable(numbers({1, 2}), &d);
  EXPECT_REFUSED(user::doubled(x), "does not see what happens to the elements");
  EXPECT_REFUSED(sum(x).item(), "does not see");
  EXPECT_REFUSED(x.fill_(0), "does not see");
  EXPECT_REFUSED(x.data<double>()[0] = 1, "does not see");
  EXPECT_REFUSED(zeros({2}, DType::float64).copy_from(x), "does not see");
  EXPECT_REFUSED(to_dlpack(x), "does not see");
  EXPECT_REFUSED(TensorGraph(), "this thread records another graph");
  EXPECT_REFUSED(graph.backward(numbers({1})), "does not depend on a variable");
  EXPECT_REFUSED(graph.backward(x), "pass a cotangent");
  EXPECT_REFUSED(graph.variable(Tensor(), &d), "undefined");
  EXPECT_REFUSED(graph.variable(zeros({2}, DType::int32), &d), "int32");
}

TEST(TensorGraph, RunsBackwardOnce) {
  Tensor d;
  TensorGraph graph;
  const Tensor y = sum(graph.variable(numbers({1, 2}), &d));
  graph.backward(y);
  EXPECT_REFUSED(graph.backward(y), "has run backward before");
}

TEST(TensorGraph, RefusesTensorsOfAnotherGraph) {
  Tensor d, state;
  {
    TensorGraph graph;
    state = graph.variable(numbers({1, 2}), &d) * 2;
  }
  EXPECT_EQ(state.select(0, 1).item(), 4) << "they are tensors as any other when it has ended";
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2}), &d);
  EXPECT_REFUSED(x + state, "a computation graph that has ended");
  graph.backward(sum(x * clad::stop_gradient(state)));
  EXPECT_TRUE(same_bits(d, numbers({2, 4})));
}

TEST(TensorGraph, RefusesItsTensorsOnAnotherThread) {
  Tensor d;
  TensorGraph graph;
  const Tensor x = graph.variable(numbers({1, 2}), &d);
  std::string message;
  std::thread([&] { message = error_of([&] { sum(x); }); }).join();
  EXPECT_NE(message.find("another thread records"), std::string::npos) << message;
  double value = 0;
  std::thread([&] { value = sum(clad::stop_gradient(x)).item(); }).join();
  EXPECT_EQ(value, 3);
}

TEST(TensorGraph, RecordsAnOperationOfAUser) {
  Tensor d;
  TensorGraph graph;
  graph.backward(sum(user::tripled(graph.variable(numbers({1, 2}), &d))));
  EXPECT_TRUE(same_bits(d, numbers({3, 3})));
}

TEST(TensorGraph, EndsWithAnException) {
  Tensor d;
  EXPECT_THROW(
      {
        TensorGraph graph;
        matmul(graph.variable(numbers({1, 2}), &d), numbers({1}));
      },
      Error);
  TensorGraph graph;
  graph.backward(sum(graph.variable(numbers({1, 2}), &d)));
  EXPECT_TRUE(same_bits(d, numbers({1, 1})));
}

struct Line {
  Tensor weight = numbers({2}), bias = numbers({1});
  CLADTORCH_PARAMETERS(weight, bias)
};

TEST(ValueAndGrad, OfAModel) {
  const Line line;
  Line gradient = like(line);
  const auto loss = [](const Line& model, const Tensor& x) { return sum(model.weight * x + model.bias); };
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(value_and_grad(loss, line, &gradient, numbers({5})).item(), 11);
    EXPECT_EQ(gradient.weight.item(), 5 * i);
    EXPECT_EQ(gradient.bias.item(), i);
  }
}

}  // namespace
}  // namespace cladtorch::graph
