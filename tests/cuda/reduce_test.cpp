#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::gpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

const std::vector<Shape> shapes = {{}, {1}, {33}, {3, 257}, {2, 3, 1000}, {70000}};

TEST(CudaReduce, SumAndMean) {
  for (const Shape& shape : shapes) {
    EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return sum(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::sum_reverse_forw(x[0], state);
                                  pullbacks::sum_pullback(x[0], std::move(d_y), d[0], state);
                                },
                                normals({shape})));
    EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return mean(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::mean_reverse_forw(x[0], state);
                                  pullbacks::mean_pullback(x[0], std::move(d_y), d[0], state);
                                },
                                normals({shape})));
  }
  EXPECT_EQ(sum(zeros({0}, DType::float32, gpu)).item(), 0);
}

TEST(CudaReduce, SumToUndoesEveryBroadcast) {
  const std::vector<std::pair<Shape, Shape>> pairs = {
      {{1000, 40}, {40}}, {{3, 50, 33}, {33}},       {{5, 7}, {5, 1}},
      {{5, 7}, {}},       {{2, 3, 4, 5}, {3, 1, 5}}, {{4, 2000}, {4, 1}},
      {{3, 4}, {3, 4}},   {{2, 3, 4}, {2, 1, 4}},    {{1, 6}, {6}},
      {{513, 1}, {1}}};
  for (const auto& [full, reduced] : pairs) {
    EXPECT_TRUE(agrees_with_cpu([shape = reduced](const Tensors& x) { return sum_to(x[0], shape); },
                                [shape = reduced](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::sum_to_reverse_forw(x[0], shape, state);
                                  pullbacks::sum_to_pullback(x[0], shape, std::move(d_y), d[0], state);
                                },
                                normals({full})))
        << full << " to " << reduced;
  }
}

/// A float alone would stop at 2^24.
TEST(CudaReduce, SumsManyOnes) {
  EXPECT_EQ(sum(ones({(1 << 24) + 3}, DType::float32, gpu)).item(), (1 << 24) + 4);  // the nearest float
}

}  // namespace
}  // namespace cladtorch
