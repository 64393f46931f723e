#include "cladtorch/ops/loss.h"
#include "cladtorch/ops/normalization.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::Tensors;

const Tensor targets = from_values<int32_t>({2, 2}, {0, 4, -100, 2});

Tensor loss(const Tensors& x) { return nll_loss(x[0], targets); }
void pullback(const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
  pullbacks::nll_loss_pullback(x[0], targets, -100, std::move(d_y), d[0], nullptr);
}

TEST(NLLLoss, OfLogSoftmaxIsTheCrossEntropy) {
  const Tensor x = normals({{2, 2, 5}})[0];
  EXPECT_NEAR(nll_loss(log_softmax(x), targets).item(), cross_entropy(x, targets).item(), 1e-14);
  EXPECT_EQ(nll_loss(x, full({2, 2}, -100, DType::int32)).item(), 0);
  EXPECT_EQ(nll_loss(x, full({2, 2}, 3, DType::int32), 3).item(), 0);
  EXPECT_EQ(error_of([&] { nll_loss(x, zeros({2}, DType::int32)); }),
            "nll_loss: expected log_probabilities [..., V] and targets [...]: log_probabilities is [2,2,5], "
            "targets "
            "is [2]");
  EXPECT_EQ(error_of([&] { nll_loss(x, full({2, 2}, 5, DType::int32)); }),
            "nll_loss: target 5 is outside the 5 classes; ignore_index is -100");
}

TEST(NLLLoss, GradientMatchesDifferences) {
  EXPECT_TRUE(testing::gradients_match(loss, pullback, normals({{2, 2, 5}})));
  EXPECT_TRUE(testing::gradients_match(loss, pullback, normals({{2, 2, 70}})));
  Tensor d;
  pullbacks::nll_loss_pullback(normals({{2, 3}})[0], full({2}, -100, DType::int32), -100,
                               ones({}, DType::float64), &d, nullptr);
  EXPECT_EQ(testing::relative_difference(d, zeros({2, 3}, DType::float64)), 0);
}

TEST(NLLLoss, OfBfloat16IsAFloatAndAgreesWithFloat) {
  EXPECT_EQ(nll_loss(zeros({2, 2, 5}, DType::bfloat16), targets).dtype(), DType::float32);
  EXPECT_TRUE(testing::bfloat16_matches_float(loss, pullback, normals({{2, 2, 5}})));
}

}  // namespace
}  // namespace cladtorch
