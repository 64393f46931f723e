#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
  const Tensor bias = x.size() > 2 ? x[2] : Tensor();
  clad::pullback_state<LinearGeluState> state;
  pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], bias, state);
  pullbacks::linear_gelu_tanh_pullback(x[0], x[1], bias, std::move(d_y), d[0], d[1],
                                       x.size() > 2 ? d[2] : nullptr, state);
}

TEST(LinearGeluTanh, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {0, 4}}) {
    const Shape weight{6, shape.back()};
    const auto biased = [](const Tensors& x) { return linear_gelu_tanh(x[0], x[1], x[2]); };
    EXPECT_TRUE(testing::gradients_match(biased, pullback, normals({shape, weight, {6}})));
    const auto plain = [](const Tensors& x) { return linear_gelu_tanh(x[0], x[1], Tensor()); };
    EXPECT_TRUE(testing::gradients_match(plain, pullback, normals({shape, weight})));
  }
}

TEST(LinearGeluTanh, FloatsRoundAsTheTwoOperations) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Tensors x, d(3), expected(3);
    for (const Tensor& t : normals({{70, 33}, {130, 33}, {130}})) x.push_back(t.to(dtype));
    const Tensor d_y = normals({{70, 130}}, 4)[0].to(dtype), product = linear(x[0], x[1], x[2]);
    clad::pullback_state<LinearGeluState> state;
    const Tensor y = pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], x[2], state);
    EXPECT_TRUE(same_bits(y, gelu_tanh(product)));
    EXPECT_TRUE(same_bits(linear_gelu_tanh(x[0], x[1], x[2]), y));
    pullback(x, d_y, {&d[0], &d[1], &d[2]});
    Tensor d_product;
    pullbacks::pointwise_pullback(functions::GeluTanh{}, product, d_y, &d_product);
    pullbacks::linear_pullback(x[0], x[1], x[2], d_product, &expected[0], &expected[1], &expected[2]);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(d[i], expected[i])) << i;
  }
}

TEST(LinearGeluTanh, IsOneOperation) {
  const Tensors x = normals({{3, 5}, {4, 5}, {4}});
  const int64_t before = op_count();
  linear_gelu_tanh(x[0], x[1], x[2]);
  EXPECT_EQ(op_count() - before, 1);
}

}  // namespace
}  // namespace cladtorch
