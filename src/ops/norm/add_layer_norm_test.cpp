#include "cladtorch/ops/fused.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

/// A tensor made from both results, and its pullback.
Tensor combined(const Tensors& x) {
  const NormalizedSum y = add_layer_norm(x[0], x[1], x[2], x.size() > 3 ? x[3] : Tensor());
  return y.normalized + y.sum * 0.3;
}
void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
  const bool biased = x.size() > 3;
  Tensor bias = biased ? x[3] : Tensor(), none;
  clad::pullback_state<AddLayerNormState> state;
  pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], bias, 1e-5, state);
  const Tensor d_sum = d_y.defined() ? d_y * 0.3 : Tensor();
  pullbacks::add_layer_norm_pullback({}, {}, x[2], bias, 1e-5, {d_sum, d_y}, d[0], d[1], d[2],
                                     biased ? d[3] : &none, nullptr, state);
  EXPECT_FALSE(none.defined());
}

TEST(AddLayerNorm, IsTheSumAndItsNormalization) {
  const NormalizedSum y =
      add_layer_norm(from_values<double>({1, 2}, {1, 1}), from_values<double>({1, 2}, {0, 2}),
                     ones({2}, DType::float64), full({2}, 10, DType::float64), 0);
  EXPECT_EQ(y.sum.select(1, 1).item(), 3);
  EXPECT_DOUBLE_EQ(y.normalized.select(1, 0).item(), 9);
  EXPECT_DOUBLE_EQ(y.normalized.select(1, 1).item(), 11);
  EXPECT_EQ(testing::error_of([] { add_layer_norm(zeros({2, 3}), zeros({2, 3}), ones({2}), zeros({2})); }),
            "add_layer_norm: expected a + b [..., C] and weight [C]: a + b is [2,3], weight is [2]");
  EXPECT_EQ(testing::error_of([] { add_layer_norm(zeros({2, 3}), zeros({2, 3}), ones({3}), zeros({2})); }),
            "add_layer_norm: weight is [3], but bias is [2]");
  EXPECT_THROW(add_layer_norm(zeros({2, 3}), zeros({4, 3}), ones({3}), zeros({3})), Error);
  EXPECT_THROW(add_layer_norm(zeros({2, 3}), zeros({2, 3}, DType::float64), ones({3}), zeros({3})), Error);
}

TEST(AddLayerNorm, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {100, 4}, {0, 4}})
    EXPECT_TRUE(testing::gradients_match(combined, pullback,
                                         normals({shape, shape, {shape.back()}, {shape.back()}})));
  EXPECT_TRUE(testing::gradients_match(combined, pullback, normals({{3, 5}, {3, 5}, {5}}))) << "no bias";
  EXPECT_TRUE(testing::gradients_match(combined, pullback, normals({{2, 3, 5}, {3, 1}, {5}, {5}})))
      << "broadcast";
}

TEST(AddLayerNorm, GradientWithRespectToEpsilonMatchesDifferences) {
  const Tensors x = normals({{3, 5}, {3, 5}, {5}, {5}});
  const auto value = [&](double epsilon) {
    return testing::dot(add_layer_norm(x[0], x[1], x[2], x[3], epsilon).normalized, x[0]);
  };
  clad::pullback_state<AddLayerNormState> state;
  pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 0.5, state);
  double d_epsilon = 0;
  pullbacks::add_layer_norm_pullback({}, {}, x[2], x[3], 0.5, {{}, x[0]}, nullptr, nullptr, nullptr, nullptr,
                                     &d_epsilon, state);
  EXPECT_NEAR(d_epsilon, (value(0.5 + 1e-5) - value(0.5 - 1e-5)) / 2e-5, 1e-8);
}

/// To the last bit, so that fusing does not change a model.
TEST(AddLayerNorm, FloatsRoundAsTheTwoOperations) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Tensors x, d(4), expected(4);
    for (const Tensor& t : normals({{70, 130}, {70, 130}, {130}, {130}})) x.push_back(t.to(dtype));
    const Tensor d_sum = normals({{70, 130}}, 4)[0].to(dtype),
                 d_normalized = normals({{70, 130}}, 5)[0].to(dtype);
    clad::pullback_state<AddLayerNormState> state;
    const NormalizedSum y = pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 1e-5, state);
    pullbacks::add_layer_norm_pullback({}, {}, x[2], x[3], 1e-5, {d_sum, d_normalized}, &d[0], &d[1], &d[2],
                                       &d[3], nullptr, state);
    clad::pullback_state<BroadcastState> sum_state;
    clad::pullback_state<LayerNormState> norm_state;
    const Tensor sum = pullbacks::add_reverse_forw(x[0], x[1], sum_state);
    EXPECT_TRUE(same_bits(y.sum, sum));
    EXPECT_TRUE(
        same_bits(y.normalized, pullbacks::layer_norm_reverse_forw(sum, x[2], x[3], 1e-5, norm_state)));
    EXPECT_TRUE(same_bits(add_layer_norm(x[0], x[1], x[2], x[3]).normalized, y.normalized));
    Tensor d_of_sum = d_sum;
    pullbacks::layer_norm_pullback(sum, x[2], x[3], 1e-5, d_normalized, &d_of_sum, &expected[2], &expected[3],
                                   nullptr, norm_state);
    pullbacks::add_pullback({}, {}, d_of_sum, &expected[0], &expected[1], sum_state);
    for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(d[i], expected[i])) << i;
  }
}

}  // namespace
}  // namespace cladtorch
