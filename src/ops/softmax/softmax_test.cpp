#include "cladtorch/ops/normalization.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::Tensors;

TEST(Softmax, RowsSumToOneForLargeInputs) {
  for (DType dtype : {DType::float32, DType::float64}) {
    const Tensor y = softmax(from_values<double>({2, 2}, {1e4, 1e4, -1e4, 0}).to(dtype));
    EXPECT_EQ(y.select(0, 0).select(0, 0).item(), 0.5);
    EXPECT_EQ(y.select(0, 1).select(0, 1).item(), 1);
  }
  EXPECT_TRUE(std::isnan(softmax(full({3}, NAN)).select(0, 0).item()));
}

TEST(Softmax, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{1}, {7}, {3, 5}, {2, 3, 17}, {0, 4}, {4, 0}}) {
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return softmax(x[0]); },
                                         [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                           clad::pullback_state<OutputState> state;
                                           pullbacks::softmax_reverse_forw(x[0], state);
                                           pullbacks::softmax_pullback({}, d_y, d[0], state);
                                         },
                                         normals({shape})));
  }
}

TEST(Softmax, FloatAgreesWithDouble) {
  const Tensor x = normals({{5, 257}})[0];
  EXPECT_LT(testing::relative_difference(softmax(x.to(DType::float32)), softmax(x)), 2e-6);
  const Tensor d_y = normals({{5, 257}}, 2)[0];
  const auto gradient = [](const Tensor& at, const Tensor& d) {
    clad::pullback_state<OutputState> state;
    pullbacks::softmax_reverse_forw(at, state);
    Tensor d_x;
    pullbacks::softmax_pullback({}, d, &d_x, state);
    pullbacks::softmax_pullback({}, d, &d_x, state);
    return d_x;
  };
  EXPECT_LT(
      testing::relative_difference(gradient(x.to(DType::float32), d_y.to(DType::float32)), gradient(x, d_y)),
      4e-6);
}

}  // namespace
}  // namespace cladtorch
