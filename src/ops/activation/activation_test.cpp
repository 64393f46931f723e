#include "cladtorch/ops/activation.h"

#include "cladtorch/ops/arithmetic.h"

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

template <auto Function, auto Pullback>
void check_pullback(const Tensors& x) {
  EXPECT_TRUE(gradients_match(
      [](const Tensors& at) { return Function(at[0]); },
      [](const Tensors& at, Tensor d_y, const Gradients& d) { Pullback(at[0], d_y, d[0]); }, x));
}
template <auto Function, auto ReverseForward, auto Pullback>
void check_pullback_of_result(const Tensors& x) {
  EXPECT_TRUE(gradients_match([](const Tensors& at) { return Function(at[0]); },
                              [](const Tensors& at, Tensor d_y, const Gradients& d) {
                                clad::pullback_state<OutputState> state;
                                ReverseForward(at[0], state);
                                Pullback({}, d_y, d[0], state);
                              },
                              x));
}
TEST(Pointwise, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{0}, {1}, {7}, {3, 5}}) {
    const Tensors x = normals({shape}), positive = {add_scalar(mul(x[0], x[0]), 0.5)};
    check_pullback<erf, pullbacks::erf_pullback>(x);
    check_pullback<log, pullbacks::log_pullback>(positive);
    check_pullback_of_result<exp, pullbacks::exp_reverse_forw, pullbacks::exp_pullback>(x);
    check_pullback_of_result<sqrt, pullbacks::sqrt_reverse_forw, pullbacks::sqrt_pullback>(positive);
    check_pullback_of_result<rsqrt, pullbacks::rsqrt_reverse_forw, pullbacks::rsqrt_pullback>(positive);
  }
}

TEST(Pointwise, ValuesAtKnownPoints) {
  const auto of = [](Tensor (*f)(const Tensor&), double x) { return f(full({1}, x, DType::float64)).item(); };
  EXPECT_DOUBLE_EQ(of(exp, 1), std::exp(1));
  EXPECT_DOUBLE_EQ(of(log, 3), std::log(3));
  EXPECT_EQ(of(log, 0), -INFINITY);
  EXPECT_TRUE(std::isnan(of(sqrt, -1)));
  EXPECT_EQ(of(rsqrt, 4), 0.5);
  EXPECT_DOUBLE_EQ(of(erf, 0.5), std::erf(0.5));
}

}  // namespace
}  // namespace cladtorch
