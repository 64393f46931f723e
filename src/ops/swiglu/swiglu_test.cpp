#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/arithmetic.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

void swiglu_pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
  pullbacks::swiglu_pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
}

const std::vector<Shape> shapes = {{0}, {1}, {15}, {16}, {17}, {2, 3, 5}};

TEST(Swiglu, IsSiluOfTheGateTimesTheOther) {
  const Tensors x = normals({{3, 700}, {3, 700}});
  EXPECT_LT(relative_difference(swiglu(x[0], x[1]), silu(x[0]) * x[1]), 1e-15);
  EXPECT_EQ(testing::error_of([] { swiglu(zeros({2, 3}), zeros({3})); }),
            "swiglu: shapes differ: gate is [2,3], up is [3]");
}

TEST(Swiglu, GradientsMatchDifferences) {
  for (const Shape& shape : shapes)
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return swiglu(x[0], x[1]); }, swiglu_pullback,
                                         normals({shape, shape})));
}

TEST(Swiglu, OfOneTensorTwiceHasBothShares) {
  EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return swiglu(x[0], x[0]); },
                                       [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                         pullbacks::swiglu_pullback(x[0], x[0], std::move(d_y), d[0], d[0]);
                                       },
                                       normals({{37}})));
}

TEST(Swiglu, FloatAgreesWithDouble) {
  const Tensors x = normals({{3, 333}, {3, 333}}),
                narrow = {x[0].to(DType::float32), x[1].to(DType::float32)};
  const Tensor d_y = normals({{3, 333}}, 6)[0];
  EXPECT_LT(relative_difference(swiglu(narrow[0], narrow[1]), swiglu(x[0], x[1])), 1e-6);
  Tensor d[2], d_narrow[2];
  swiglu_pullback(x, d_y, {&d[0], &d[1]});
  swiglu_pullback(narrow, d_y.to(DType::float32), {&d_narrow[0], &d_narrow[1]});
  for (int i = 0; i < 2; ++i) EXPECT_LT(relative_difference(d_narrow[i], d[i]), 1e-6);
}

}  // namespace
}  // namespace cladtorch
