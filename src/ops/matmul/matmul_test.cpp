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
            "linear: expected bias [4], got [3]");
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

/// Operands in bfloat16, and the same values in double.
struct Rounded {
  Tensors narrow, exact;
  Rounded(std::initializer_list<Shape> shapes) {
    for (const Tensor& x : normals(shapes)) {
      narrow.push_back(x.to(DType::bfloat16));
      exact.push_back(narrow.back().to(DType::float64));
    }
  }
};

TEST(Linear, OfBfloat16RoundsOnlyItsResultsInFloat) {
  for (int64_t rows : {1, 4, 5, 130}) {
    const Rounded x({{rows, 400}, {300, 400}, {300}, {rows, 300}});
    const Tensor y = linear(x.narrow[0], x.narrow[1], x.narrow[2]);
    EXPECT_EQ(y.dtype(), DType::bfloat16);
    EXPECT_LT(testing::relative_difference(y, linear(x.exact[0], x.exact[1], x.exact[2])), 0x1p-8);

    std::vector<Tensor> got(3), expected(3);
    pullbacks::linear_pullback(x.exact[0], x.exact[1], x.exact[2], x.exact[3], &expected[0], &expected[1],
                               &expected[2]);
    pullbacks::linear_pullback(x.narrow[0], x.narrow[1], x.narrow[2], x.narrow[3], &got[0], &got[1], &got[2]);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(got[i].dtype(), DType::bfloat16);
      EXPECT_LT(testing::relative_difference(got[i], expected[i]), 0x1p-8) << i;
    }
  }
}

TEST(Linear, OfBfloat16AddsToTheBuffersOfItsParametersInFloat) {
  const Rounded x({{70, 40}, {30, 40}, {30}, {70, 30}});
  Tensor d_weight = gradient_buffer_like(x.narrow[1]), d_bias = gradient_buffer_like(x.narrow[2]);
  Tensor expected_weight, expected_bias;
  for (int i = 0; i < 2; ++i) {
    pullbacks::linear_pullback(x.narrow[0], x.narrow[1], x.narrow[2], x.narrow[3], nullptr, &d_weight,
                               &d_bias);
    pullbacks::linear_pullback(x.exact[0], x.exact[1], x.exact[2], x.exact[3], nullptr, &expected_weight,
                               &expected_bias);
    EXPECT_EQ(d_weight.dtype(), DType::float32);
    EXPECT_LT(testing::relative_difference(d_weight, expected_weight), 1e-6);
    EXPECT_LT(testing::relative_difference(d_bias, expected_bias), 1e-6);
  }
}

TEST(Matmul, OfBfloat16RoundsOnlyItsResultsInFloat) {
  for (const Shape& shape : {Shape{2, 3, 70, 9}, {70, 9}}) {
    const Rounded x({shape, {2, 3, 9, 33}, {2, 3, 70, 33}});
    EXPECT_LT(testing::relative_difference(matmul(x.narrow[0], x.narrow[1]), matmul(x.exact[0], x.exact[1])),
              0x1p-8);
    Tensor d_a, d_b, expected_a, expected_b;
    Tensor d_parameter = gradient_buffer_like(x.narrow[0]);
    pullbacks::matmul_pullback(x.narrow[0], x.narrow[1], x.narrow[2], &d_a, &d_b);
    pullbacks::matmul_pullback(x.narrow[0], x.narrow[1], x.narrow[2], &d_parameter, nullptr);
    pullbacks::matmul_pullback(x.exact[0], x.exact[1], x.exact[2], &expected_a, &expected_b);
    EXPECT_LT(testing::relative_difference(d_a, expected_a), 0x1p-6);  // a batch of rounded products is added
    EXPECT_LT(testing::relative_difference(d_b, expected_b), 0x1p-8);
    EXPECT_LT(testing::relative_difference(d_parameter, expected_a), 1e-6);
  }
}

}  // namespace
}  // namespace cladtorch
