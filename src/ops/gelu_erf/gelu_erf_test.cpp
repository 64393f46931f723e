#include "cladtorch/ops/activation.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::Tensors;

void pullback(const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
  pullbacks::gelu_erf_pullback(x[0], d_y, d[0]);
}

TEST(GeluErf, MatchesItsDefinitionAndKeepsItsTails) {
  for (double v : {-40.0, -3.0, -0.1, 0.0, 0.5, 2.0, 40.0}) {
    EXPECT_NEAR(gelu_erf(full({}, v, DType::float64)).item(), v / 2 * (1 + std::erf(v / std::sqrt(2))),
                1e-15 * std::abs(v));
  }
  EXPECT_TRUE(std::isnan(gelu_erf(full({}, NAN)).item()));
  for (const double v : {-5.0, -9.0, -12.0}) {
    const double expected = v / 2 * std::erfc(-v / std::sqrt(2));
    EXPECT_NEAR(gelu_erf(full({}, v, DType::float64)).item(), expected, 1e-14 * -expected);
    EXPECT_NEAR(gelu_erf(full({}, v)).item(), expected, 1e-5 * -expected);
  }
}

TEST(GeluErf, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{0}, {1}, {15}, {16}, {17}, {2, 3, 5}})
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return gelu_erf(x[0]); }, pullback,
                                         normals({shape})));
}

TEST(GeluErf, FloatAgreesWithDouble) {
  const Tensor x = normals({{1000}})[0], d_y = normals({{1000}}, 6)[0];
  EXPECT_LT(testing::relative_difference(gelu_erf(x.to(DType::float32)), gelu_erf(x)), 1e-6);
  Tensor d_x, d_x_float;
  pullbacks::gelu_erf_pullback(x, d_y, &d_x);
  pullbacks::gelu_erf_pullback(x.to(DType::float32), d_y.to(DType::float32), &d_x_float);
  EXPECT_LT(testing::relative_difference(d_x_float, d_x), 1e-6);
}

}  // namespace
}  // namespace cladtorch
