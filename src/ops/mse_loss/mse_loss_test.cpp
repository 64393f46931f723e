#include "cladtorch/ops/loss.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::normals;
using testing::Tensors;

TEST(MseLoss, IsTheMeanOfSquaredDifferences) {
  EXPECT_DOUBLE_EQ(mse_loss(from_values<double>({2}, {1, 2}), from_values<double>({2}, {3, 5})).item(), 6.5);
  EXPECT_EQ(testing::error_of([] { mse_loss(zeros({2}), zeros({3})); }),
            "mse_loss: expected equal, non-empty shapes: prediction is [2], target is [3]");
}

TEST(MseLoss, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{}, {1}, {3, 5}}) {
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return mse_loss(x[0], x[1]); },
                                         [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                           clad::custom_derivatives::cladtorch::mse_loss_pullback(
                                               x[0], x[1], d_y, d[0], d[1]);
                                         },
                                         normals({shape, shape})));
  }
}

}  // namespace
}  // namespace cladtorch
