#include "cladtorch/ops/loss.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::Tensors;

void pullback_of(const Tensor& logits, const Tensor& targets, Tensor d_y, Tensor* d_logits) {
  clad::pullback_state<CrossEntropyState> state;
  pullbacks::cross_entropy_reverse_forw(logits, targets, -100, state);
  pullbacks::cross_entropy_pullback(logits, targets, -100, std::move(d_y), d_logits, nullptr, state);
}

TEST(CrossEntropy, OfEqualScoresIsTheLogOfTheirNumber) {
  for (DType dtype : {DType::float32, DType::float64}) {
    const Tensor y = cross_entropy(full({2, 3, 50}, 7, dtype), zeros({2, 3}, DType::int32));
    EXPECT_NEAR(y.item(), std::log(50.0), 1e-6);
    EXPECT_EQ(y.dim(), 0);
  }
}

TEST(CrossEntropy, IgnoredRowsCountNeitherInTheSumNorInTheMean) {
  const Tensor logits = normals({{3, 5}})[0];
  const double both = cross_entropy(logits.narrow(0, 0, 2), from_values<int32_t>({2}, {1, 4})).item();
  EXPECT_DOUBLE_EQ(cross_entropy(logits, from_values<int32_t>({3}, {1, 4, -100})).item(), both);
  EXPECT_EQ(cross_entropy(logits, full({3}, -100, DType::int32)).item(), 0);
  EXPECT_EQ(cross_entropy(logits, full({3}, 2, DType::int32), 2).item(), 0);
}

TEST(CrossEntropy, GradientMatchesDifferences) {
  for (int64_t classes : {1, 2, 17, 65}) {
    const Tensor targets = from_values<int32_t>(
        {2, 2}, {0, static_cast<int32_t>(classes - 1), -100, static_cast<int32_t>(classes / 2)});
    EXPECT_TRUE(testing::gradients_match([&](const Tensors& x) { return cross_entropy(x[0], targets); },
                                         [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                           pullback_of(x[0], targets, d_y, d[0]);
                                         },
                                         normals({{2, 2, classes}})));
  }
}

TEST(CrossEntropy, AllRowsIgnoredGivesAZeroGradient) {
  Tensor d;
  pullback_of(normals({{2, 3}})[0], full({2}, -100, DType::int32), ones({}, DType::float64), &d);
  EXPECT_EQ(testing::relative_difference(d, zeros({2, 3}, DType::float64)), 0);
}

TEST(CrossEntropy, FloatAgreesWithDouble) {
  const Tensor logits = normals({{7, 300}})[0],
               targets = from_values<int32_t>({7}, {0, 299, 3, -100, 5, 6, 7});
  EXPECT_NEAR(cross_entropy(logits.to(DType::float32), targets).item(), cross_entropy(logits, targets).item(),
              1e-6);
  Tensor d, d_float;
  pullback_of(logits, targets, ones({}, DType::float64), &d);
  pullback_of(logits.to(DType::float32), targets, ones({}), &d_float);
  EXPECT_LT(testing::relative_difference(d_float, d), 2e-6);
}

TEST(CrossEntropy, TakesTargetsOf64Bits) {
  const Tensor logits = normals({{3, 5}})[0], targets = from_values<int32_t>({3}, {4, -100, 1}),
               wide = targets.to(DType::int64);
  EXPECT_EQ(cross_entropy(logits, wide).item(), cross_entropy(logits, targets).item());
  EXPECT_EQ(nll_loss(logits, wide).item(), nll_loss(logits, targets).item());
  const Tensor weight = normals({{5, 5}})[0];
  EXPECT_EQ(linear_cross_entropy(logits, weight, wide).item(),
            linear_cross_entropy(logits, weight, targets).item());
  Tensor d, d_wide;
  pullback_of(logits, targets, ones({}, DType::float64), &d);
  pullback_of(logits, wide, ones({}, DType::float64), &d_wide);
  EXPECT_EQ(testing::relative_difference(d_wide, d), 0);
}

TEST(CrossEntropy, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { cross_entropy(zeros({2, 3}), from_values<int32_t>({2}, {0, 3})); }),
            "cross_entropy: target 3 is outside the 3 classes; ignore_index is -100");
  EXPECT_EQ(error_of([] { cross_entropy(zeros({2, 3}), zeros({3}, DType::int32)); }),
            "cross_entropy: expected logits [..., V] and targets [...]: logits is [2,3], targets is [3]");
}

}  // namespace
}  // namespace cladtorch
