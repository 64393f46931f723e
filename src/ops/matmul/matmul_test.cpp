#include "cladtorch/ops/matmul.h"

#include "ops/matmul/gemm.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::gradients_match;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(Matmul, MultipliesABatchWithBroadcastLeadingDimensions) {
  const Tensors x = normals({{2, 1, 3, 4}, {5, 4, 2}});
  const Tensor y = matmul(x[0], x[1]);
  ASSERT_EQ(y.shape(), (Shape{2, 5, 3, 2}));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 5; ++j) {
      const Tensor a = x[0].select(0, i).select(0, 0).contiguous(), b = x[1].select(0, j).contiguous();
      Tensor expected = zeros({3, 2}, DType::float64);
      detail::gemm_reference<double>(3, 2, 4, {a.data<double>(), 4, 1}, {b.data<double>(), 2, 1},
                                     expected.data<double>(), 2, false);
      EXPECT_LT(testing::relative_difference(y.select(0, i).select(0, j), expected), 1e-14);
    }
  }
}

TEST(Matmul, ErrorsNameBothShapes) {
  EXPECT_EQ(error_of([] { matmul(zeros({4, 8}), zeros({16, 4})); }),
            "matmul: inner dimensions differ: a is [4,8], b is [16,4]");
  EXPECT_EQ(error_of([] { matmul(zeros({4}), zeros({4, 4})); }),
            "matmul: expected rank 2 or more: a is [4], b is [4,4]");
  EXPECT_EQ(error_of([] { linear(zeros({2, 3}), zeros({4, 5})); }),
            "linear: expected x [..., in] and weight [out, in]: x is [2,3], weight is [4,5]");
  EXPECT_EQ(error_of([] { linear(zeros({2, 3}), zeros({4, 3}), zeros({3})); }),
            "linear: expected bias [4] of float32, got [3] of float32");
}

TEST(Matmul, GradientsMatchDifferences) {
  struct Pair {
    Shape a, b;
  };
  for (const Pair& pair : std::vector<Pair>{{{1, 1}, {1, 1}},
                                            {{3, 4}, {4, 5}},
                                            {{17, 31}, {31, 65}},
                                            {{2, 3, 4}, {2, 4, 5}},
                                            {{2, 3, 4}, {4, 5}},
                                            {{3, 4}, {2, 4, 5}},
                                            {{2, 1, 3, 4}, {5, 4, 2}},
                                            {{0, 4}, {4, 5}},
                                            {{3, 0}, {0, 2}},
                                            {{0, 3, 4}, {4, 5}}}) {
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return matmul(x[0], x[1]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::matmul_pullback(x[0], x[1], d_y, d[0], d[1]);
                                },
                                normals({pair.a, pair.b})));
  }
}

TEST(Linear, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{4}, {1, 4}, {3, 4}, {2, 3, 4}, {70, 4}, {0, 4}}) {
    for (int64_t out : {1, 5, 66}) {
      EXPECT_TRUE(gradients_match([](const Tensors& x) { return linear(x[0], x[1], x[2]); },
                                  [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                    pullbacks::linear_pullback(x[0], x[1], x[2], d_y, d[0], d[1], d[2]);
                                  },
                                  normals({shape, {out, 4}, {out}})));
    }
  }
}

TEST(Linear, WithoutBiasMatchesDifferences) {
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return linear(x[0], x[1]); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                pullbacks::linear_pullback(x[0], x[1], d_y, d[0], d[1]);
                              },
                              normals({{3, 4}, {5, 4}})));
}

TEST(Linear, AnUndefinedBiasIsLeftOutAndGetsNoGradient) {
  const Tensors x = normals({{3, 4}, {5, 4}});
  EXPECT_EQ(testing::relative_difference(linear(x[0], x[1], {}), linear(x[0], x[1])), 0);
  Tensor d_x, d_bias;
  pullbacks::linear_pullback(x[0], x[1], {}, ones({3, 5}, DType::float64), &d_x, nullptr, &d_bias);
  EXPECT_TRUE(d_x.defined());
  EXPECT_FALSE(d_bias.defined());
}

TEST(Linear, FloatAgreesWithDouble) {
  for (int64_t rows : {1, 4, 5, 130}) {
    const Tensors x = normals({{rows, 400}, {300, 400}, {300}});
    const auto f = [](const Tensor& t) { return t.to(DType::float32); };
    EXPECT_LT(testing::relative_difference(linear(f(x[0]), f(x[1]), f(x[2])), linear(x[0], x[1], x[2])),
              1e-6);
  }
}

}  // namespace
}  // namespace cladtorch
