#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/normalization.h"
#include "tests/support/bfloat16_check.h"

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

TEST(LogSoftmax, IsTheLogOfSoftmaxWithoutItsUnderflow) {
  const Tensor x = normals({{3, 17}})[0];
  EXPECT_LT(testing::relative_difference(log_softmax(x), log(softmax(x))), 1e-14);
  const Tensor y = log_softmax(from_values<double>({2}, {-1e4, 0}));
  EXPECT_EQ(y.select(0, 0).item(), -1e4);
  EXPECT_EQ(y.select(0, 1).item(), 0);
}

/// Either function, and its gradient.
struct Function {
  const char* name;
  Tensor (*value)(const Tensor& x);
  Tensor (*reverse_forw)(const Tensor& x, clad::pullback_state<OutputState>& state);
  void (*pullback)(const Tensor& x, Tensor d_y, Tensor* d_x, clad::pullback_state<OutputState>& state);

  Tensor forward(const Tensors& x) const { return value(x[0]); }
  void backward(const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) const {
    clad::pullback_state<OutputState> state;
    reverse_forw(x[0], state);
    pullback({}, std::move(d_y), d[0], state);
  }
  testing::Forward as_forward() const {
    return [this](const Tensors& x) { return forward(x); };
  }
  testing::Pullback as_pullback() const {
    return [this](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
      backward(x, std::move(d_y), d);
    };
  }
};
const Function functions[] = {
    {"softmax", softmax, pullbacks::softmax_reverse_forw, pullbacks::softmax_pullback},
    {"log_softmax", log_softmax, pullbacks::log_softmax_reverse_forw, pullbacks::log_softmax_pullback}};

TEST(SoftmaxAndItsLog, GradientsMatchDifferences) {
  for (const Function& f : functions)
    for (const Shape& shape : {Shape{1}, {7}, {3, 5}, {2, 3, 17}, {0, 4}, {4, 0}})
      EXPECT_TRUE(testing::gradients_match(f.as_forward(), f.as_pullback(), normals({shape}))) << f.name;
}

TEST(SoftmaxAndItsLog, FloatAgreesWithDouble) {
  const Tensor x = normals({{5, 257}})[0], d_y = normals({{5, 257}}, 2)[0];
  for (const Function& f : functions) {
    EXPECT_LT(testing::relative_difference(f.value(x.to(DType::float32)), f.value(x)), 2e-6) << f.name;
    Tensor d, d_float;
    f.backward({x}, d_y, {&d});
    f.backward({x.to(DType::float32)}, d_y.to(DType::float32), {&d_float});
    EXPECT_LT(testing::relative_difference(d_float, d), 4e-6) << f.name;
  }
}

TEST(SoftmaxAndItsLog, Bfloat16AgreesWithFloat) {
  for (const Function& f : functions)
    for (const Shape& shape : {Shape{7}, {3, 5}, {0, 4}, {33, 600}})
      EXPECT_TRUE(testing::bfloat16_matches_float(f.as_forward(), f.as_pullback(), normals({shape}), 0x1p-5))
          << f.name;
}

}  // namespace
}  // namespace cladtorch
