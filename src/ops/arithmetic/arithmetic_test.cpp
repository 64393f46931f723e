#include "cladtorch/ops/arithmetic.h"

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::gradients_match;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

struct Pair {
  Shape a, b;
};
const std::vector<Pair> pairs = {{{3}, {3}},          {{2, 3}, {3}},       {{3}, {2, 3}},   {{2, 3}, {2, 1}},
                                 {{2, 1, 4}, {3, 1}}, {{4, 5}, {}},        {{}, {}},        {{0, 3}, {3}},
                                 {{2, 300}, {300}},   {{70, 300}, {1, 1}}, {{2, 3}, {2, 3}}};

TEST(Arithmetic, BroadcastsLikePyTorch) {
  const Tensor a = arange(6, DType::float64).reshape({2, 3}), b = from_values<double>({3}, {10, 20, 30});
  EXPECT_EQ((a + b).select(0, 1).select(0, 2).item(), 35);
  EXPECT_EQ((a - b).select(0, 1).select(0, 0).item(), -7);
  EXPECT_EQ((b * a).select(0, 1).select(0, 1).item(), 80);
  EXPECT_EQ((a / b).select(0, 0).select(0, 2).item(), 2.0 / 30);
  EXPECT_EQ((2.0 * a + 1.0).select(0, 1).select(0, 2).item(), 11);
  EXPECT_EQ((1.0 - a).select(0, 0).select(0, 1).item(), 0);
  EXPECT_EQ((-a / 2.0).select(0, 0).select(0, 1).item(), -0.5);
}

TEST(Arithmetic, ErrorsNameTheOperationAndBothShapes) {
  EXPECT_EQ(error_of([] { add(zeros({4, 8}), zeros({16, 4})); }),
            "add: shapes do not broadcast: a is [4,8], b is [16,4]");
  EXPECT_EQ(error_of([] { mul(zeros({1}), zeros({1}, DType::float64)); }),
            "mul: dtypes differ: a is float32, b is float64; convert with to()");
  EXPECT_EQ(error_of([] { add(arange(2), arange(2)); }),
            "add: expected float32 or float64, got int32; convert with to()");
  EXPECT_EQ(error_of([] { add(Tensor(), zeros({1})); }), "add: a is undefined");
}

TEST(Arithmetic, GradientsOfAddAndSubMatchDifferences) {
  for (const Pair& pair : pairs) {
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0] + x[1]; },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<BroadcastState> state;
                                  pullbacks::add_reverse_forw(x[0], x[1], state);
                                  pullbacks::add_pullback({}, {}, d_y, d[0], d[1], state);
                                },
                                normals({pair.a, pair.b})));
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0] - x[1]; },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<BroadcastState> state;
                                  pullbacks::sub_reverse_forw(x[0], x[1], state);
                                  pullbacks::sub_pullback({}, {}, d_y, d[0], d[1], state);
                                },
                                normals({pair.a, pair.b})));
  }
}

TEST(Arithmetic, GradientsOfMulAndDivMatchDifferences) {
  for (const Pair& pair : pairs) {
    Tensors x = normals({pair.a, pair.b});
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0] * x[1]; },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::mul_pullback(x[0], x[1], d_y, d[0], d[1]);
                                },
                                x));
    for (int64_t i = 0; i < x[1].numel(); ++i)
      x[1].data<double>()[i] = 1.5 + 0.3 * std::tanh(x[1].data<double>()[i]);
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0] / x[1]; },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::div_pullback(x[0], x[1], d_y, d[0], d[1]);
                                },
                                x));
  }
}

TEST(Arithmetic, GradientsWithRespectToScalarsMatchDifferences) {
  const auto value = [](const Tensors& x) { return x[1].item(); };
  EXPECT_TRUE(gradients_match([&](const Tensors& x) { return scale(x[0], value(x)); },
                              [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                double d_factor = 0;
                                pullbacks::scale_pullback(x[0], value(x), d_y, d[0],
                                                          d[1] ? &d_factor : nullptr);
                                if (d[1] && d_y.defined())
                                  d[1]->accumulate(full({}, d_factor, DType::float64));
                              },
                              normals({{3, 4}, {}})));
  EXPECT_TRUE(gradients_match([&](const Tensors& x) { return add_scalar(x[0], value(x)); },
                              [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                double d_value = 0;
                                pullbacks::add_scalar_pullback({}, value(x), d_y, d[0],
                                                               d[1] ? &d_value : nullptr);
                                if (d[1] && d_y.defined())
                                  d[1]->accumulate(full({}, d_value, DType::float64));
                              },
                              normals({{3, 4}, {}})));
}

}  // namespace
}  // namespace cladtorch
