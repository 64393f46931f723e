#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/normalization.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::Tensors;

void pullback(const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
  clad::pullback_state<OutputState> state;
  pullbacks::log_softmax_reverse_forw(x[0], state);
  pullbacks::log_softmax_pullback({}, std::move(d_y), d[0], state);
}

TEST(LogSoftmax, IsTheLogOfSoftmaxWithoutItsUnderflow) {
  const Tensor x = normals({{3, 17}})[0];
  EXPECT_LT(testing::relative_difference(log_softmax(x), log(softmax(x))), 1e-14);
  const Tensor y = log_softmax(from_values<double>({2}, {-1e4, 0}));
  EXPECT_EQ(y.select(0, 0).item(), -1e4);
  EXPECT_EQ(y.select(0, 1).item(), 0);
}

TEST(LogSoftmax, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{1}, {7}, {3, 5}, {2, 3, 17}, {0, 4}, {4, 0}})
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return log_softmax(x[0]); }, pullback,
                                         normals({shape})));
}

TEST(LogSoftmax, FloatAgreesWithDouble) {
  const Tensor x = normals({{5, 257}})[0], d_y = normals({{5, 257}}, 2)[0];
  EXPECT_LT(testing::relative_difference(log_softmax(x.to(DType::float32)), log_softmax(x)), 2e-6);
  Tensor d, d_float;
  pullback({x}, d_y, {&d});
  pullback({x.to(DType::float32)}, d_y.to(DType::float32), {&d_float});
  EXPECT_LT(testing::relative_difference(d_float, d), 4e-6);
}

TEST(LogSoftmax, Bfloat16AgreesWithFloat) {
  for (const Shape& shape : {Shape{7}, {3, 5}, {0, 4}, {33, 600}})
    EXPECT_TRUE(testing::bfloat16_matches_float([](const Tensors& x) { return log_softmax(x[0]); }, pullback,
                                                normals({shape}), 0x1p-5));
}

}  // namespace
}  // namespace cladtorch
