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
  const NormalizedSum y = add_rms_norm(x[0], x[1], x[2]);
  return y.normalized + y.sum * 0.3;
}
void pullback(const Tensors& x, const Tensor& d_y, const Gradients& d) {
  clad::pullback_state<AddRMSNormState> state;
  pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], 1e-6, state);
  const Tensor d_sum = d_y.defined() ? d_y * 0.3 : Tensor();
  pullbacks::add_rms_norm_pullback({}, {}, x[2], 1e-6, {d_sum, d_y}, d[0], d[1], d[2], nullptr, state);
}

TEST(AddRMSNorm, IsTheSumAndItsNormalization) {
  const NormalizedSum y = add_rms_norm(from_values<double>({1, 2}, {1, 3}),
                                       from_values<double>({1, 2}, {0, 4}), full({2}, 10, DType::float64), 0);
  EXPECT_EQ(y.sum.select(1, 1).item(), 7);
  EXPECT_DOUBLE_EQ(y.normalized.select(1, 0).item(), 2);
  EXPECT_DOUBLE_EQ(y.normalized.select(1, 1).item(), 14);
  EXPECT_EQ(testing::error_of([] { add_rms_norm(zeros({2, 3}), zeros({2, 3}), ones({2})); }),
            "add_rms_norm: expected a + b [..., C] and weight [C]: a + b is [2,3], weight is [2]");
}

TEST(AddRMSNorm, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {100, 4}, {0, 4}})
    EXPECT_TRUE(testing::gradients_match(combined, pullback, normals({shape, shape, {shape.back()}})));
  EXPECT_TRUE(testing::gradients_match(combined, pullback, normals({{2, 3, 5}, {3, 1}, {5}}))) << "broadcast";
}

TEST(AddRMSNorm, GradientWithRespectToEpsilonMatchesDifferences) {
  const Tensors x = normals({{3, 5}, {3, 5}, {5}});
  const auto value = [&](double epsilon) {
    return testing::dot(add_rms_norm(x[0], x[1], x[2], epsilon).normalized, x[0]);
  };
  clad::pullback_state<AddRMSNormState> state;
  pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], 0.5, state);
  double d_epsilon = 0;
  pullbacks::add_rms_norm_pullback({}, {}, x[2], 0.5, {{}, x[0]}, nullptr, nullptr, nullptr, &d_epsilon,
                                   state);
  EXPECT_NEAR(d_epsilon, (value(0.5 + 1e-5) - value(0.5 - 1e-5)) / 2e-5, 1e-8);
}

/// To the last bit, so that fusing does not change a model.
TEST(AddRMSNorm, FloatsRoundAsTheTwoOperations) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Tensors x, d(3), expected(3);
    for (const Tensor& t : normals({{70, 130}, {70, 130}, {130}})) x.push_back(t.to(dtype));
    const Tensor d_sum = normals({{70, 130}}, 4)[0].to(dtype),
                 d_normalized = normals({{70, 130}}, 5)[0].to(dtype);
    clad::pullback_state<AddRMSNormState> state;
    const NormalizedSum y = pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], 1e-6, state);
    pullbacks::add_rms_norm_pullback({}, {}, x[2], 1e-6, {d_sum, d_normalized}, &d[0], &d[1], &d[2], nullptr,
                                     state);
    clad::pullback_state<BroadcastState> sum_state;
    clad::pullback_state<RMSNormState> norm_state;
    const Tensor sum = pullbacks::add_reverse_forw(x[0], x[1], sum_state);
    EXPECT_TRUE(same_bits(y.sum, sum));
    EXPECT_TRUE(same_bits(y.normalized, pullbacks::rms_norm_reverse_forw(sum, x[2], 1e-6, norm_state)));
    EXPECT_TRUE(same_bits(add_rms_norm(x[0], x[1], x[2]).normalized, y.normalized));
    Tensor d_of_sum = d_sum;
    pullbacks::rms_norm_pullback(sum, x[2], 1e-6, d_normalized, &d_of_sum, &expected[2], nullptr, norm_state);
    pullbacks::add_pullback({}, {}, d_of_sum, &expected[0], &expected[1], sum_state);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(d[i], expected[i])) << i;
  }
}

}  // namespace
}  // namespace cladtorch
