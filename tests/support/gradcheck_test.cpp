// The checker is shown to find each kind of wrong pullback before anything relies on it.
#include "tests/support/gradcheck.h"

#include "cladtorch/ops/arithmetic.h"

namespace cladtorch::testing {
namespace {

Tensor square(const Tensors& x) { return mul(x[0], x[0]); }

Tensor correct(const Tensors& x, const Tensor& d_y) { return mul(scale(x[0], 2), d_y); }

TEST(GradientCheck, AcceptsACorrectPullback) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
    if (d_x[0] && d_y.defined()) d_x[0]->accumulate(correct(x, d_y));
  };
  EXPECT_TRUE(gradients_match(square, pullback, normals({{257}})));
  EXPECT_TRUE(gradients_match(square, pullback, normals({{0, 3}})));
}

TEST(GradientCheck, FindsAnErrorOfOnePercentInOneOf257Elements) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
    if (!d_x[0] || !d_y.defined()) return;
    Tensor d = correct(x, d_y);
    d.data<double>()[100] *= 1.01;
    d_x[0]->accumulate(std::move(d));
  };
  EXPECT_FALSE(gradients_match(square, pullback, normals({{257}})));
}

TEST(GradientCheck, FindsAPullbackThatOverwrites) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
    if (d_x[0] && d_y.defined()) *d_x[0] = correct(x, d_y);
  };
  const ::testing::AssertionResult result = gradients_match(square, pullback, normals({{3}}));
  EXPECT_FALSE(result);
  EXPECT_NE(std::string(result.message()).find("accumulate"), std::string::npos) << result.message();
}

TEST(GradientCheck, FindsAPullbackThatWritesIntoSharedStorage) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
    if (!d_x[0] || !d_y.defined()) return;
    const Tensor d = correct(x, d_y);
    if (!d_x[0]->defined()) *d_x[0] = zeros_like(x[0]);
    for (int64_t i = 0; i < d.numel(); ++i) d_x[0]->data<double>()[i] += d.data<double>()[i];
  };
  const ::testing::AssertionResult result = gradients_match(square, pullback, normals({{3}}));
  EXPECT_FALSE(result);
  EXPECT_NE(std::string(result.message()).find("shared"), std::string::npos) << result.message();
}

TEST(GradientCheck, FindsAPullbackThatIgnoresStrides) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
    if (!d_x[0] || !d_y.defined()) return;
    Tensor d = Tensor::empty(x[0].shape(), DType::float64);
    for (int64_t i = 0; i < d.numel(); ++i)
      d.data<double>()[i] = 2 * x[0].data<double>()[i] * d_y.contiguous().data<double>()[i];
    d_x[0]->accumulate(std::move(d));
  };
  const ::testing::AssertionResult result = gradients_match(square, pullback, normals({{2, 3}}));
  EXPECT_FALSE(result);
  EXPECT_NE(std::string(result.message()).find("strided"), std::string::npos) << result.message();
}

TEST(GradientCheck, FindsAMissingGradient) {
  const auto pullback = [](const Tensors&, Tensor, const std::vector<Tensor*>&) {};
  EXPECT_FALSE(gradients_match(square, pullback, normals({{3}})));
}

}  // namespace
}  // namespace cladtorch::testing
