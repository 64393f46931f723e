// Every operation of the catalogue on a device, and its tangent where that is a function of its own.
#include "tests/ops/catalogue.h"

#include <algorithm>

#include "cladtorch/graph/tensors.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

class CudaCatalogue : public ::testing::TestWithParam<testing::Operation> {};

TEST_P(CudaCatalogue, AgreesWithTheCpu) {
  const testing::Operation& operation = GetParam();
  for (const auto& shapes : operation.cases) {
    // The large ones are for the loops of the CPU, and a sum of one element may cancel in bfloat16.
    const auto fits = [](const Shape& shape) { return shape.numel() != 1 && shape.numel() < 1100; };
    if (!std::all_of(shapes.begin(), shapes.end(), fits)) continue;
    const testing::Bound f = testing::bound(operation, operation.draw(shapes));
    EXPECT_TRUE(testing::agrees_with_cpu(f.forward, f.pullback, f.x)) << shapes[0];
  }
}

TEST_P(CudaCatalogue, HasTheGradientOfItsPullbackThroughTheGraph) {
  const testing::Operation& operation = GetParam();
  testing::Bound f = testing::bound(operation, operation.draw(operation.cases[0]));
  for (Tensor& one : f.x) one = one.to(DType::float32).to(testing::gpu);
  const Tensor y = f.forward(f.x);
  const Tensor d_y = testing::normals({y.shape()}, 9)[0].to(y.dtype()).to(y.device());
  testing::Tensors expected(f.x.size()), found(f.x.size());
  std::vector<Tensor*> d;
  for (Tensor& one : expected) d.push_back(&one);
  f.pullback(f.x, d_y, d);
  graph::TensorGraph graph;
  for (size_t i = 0; i < f.x.size(); ++i) f.x[i] = graph.variable(f.x[i], &found[i]);
  graph.backward(f.forward(f.x), d_y);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(testing::same_bits(found[i], expected[i])) << "operand " << i;
}

class CudaTangent : public CudaCatalogue {};

TEST_P(CudaTangent, AgreesWithTheCpu) {
  const testing::Operation& operation = GetParam();
  testing::Tensors x = operation.draw(operation.cases[0]);
  for (size_t i = 0, count = x.size(); i < count; ++i) x.push_back(testing::normals({x[i].shape()}, 8)[0]);
  EXPECT_TRUE(testing::agrees_with_cpu(operation.tangent, operation.tangent_pullback, x));
}

std::vector<testing::Operation> on_devices(bool with_tangent) {
  std::vector<testing::Operation> found = testing::catalogue();
  std::erase_if(found, [&](const testing::Operation& operation) {
    return !operation.on_devices || (with_tangent && !operation.tangent);
  });
  return found;
}

const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(All, CudaCatalogue, ::testing::ValuesIn(on_devices(false)), name_of);
INSTANTIATE_TEST_SUITE_P(All, CudaTangent, ::testing::ValuesIn(on_devices(true)), name_of);

}  // namespace
}  // namespace cladtorch
