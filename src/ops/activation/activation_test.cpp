#include "cladtorch/ops/activation.h"

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gradients_match;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(Activation, ValuesAtKnownPoints) {
  const Tensor x = from_values<double>({4}, {-800, -1, 0, 800});
  const auto at = [](const Tensor& y, int64_t i) { return y.select(0, i).item(); };
  EXPECT_EQ(at(relu(x), 1), 0);
  EXPECT_EQ(at(relu(x), 3), 800);
  EXPECT_DOUBLE_EQ(at(tanh(x), 1), std::tanh(-1));
  EXPECT_DOUBLE_EQ(at(sigmoid(x), 1), 1 / (1 + std::exp(1)));
  EXPECT_EQ(at(sigmoid(x), 0), 0);
  EXPECT_EQ(at(sigmoid(x), 3), 1);
  EXPECT_TRUE(std::isnan(relu(full({1}, NAN)).item()));
}

TEST(Activation, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{0}, {1}, {7}, {3, 5}}) {
    EXPECT_TRUE(gradients_match(
        [](const Tensors& x) { return relu(x[0]); },
        [](const Tensors& x, Tensor d_y, const Gradients& d) { pullbacks::relu_pullback(x[0], d_y, d[0]); },
        normals({shape})));
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return tanh(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<OutputState> state;
                                  pullbacks::tanh_reverse_forw(x[0], state);
                                  pullbacks::tanh_pullback({}, d_y, d[0], state);
                                },
                                normals({shape})));
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return sigmoid(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<OutputState> state;
                                  pullbacks::sigmoid_reverse_forw(x[0], state);
                                  pullbacks::sigmoid_pullback({}, d_y, d[0], state);
                                },
                                normals({shape})));
  }
}

}  // namespace
}  // namespace cladtorch
