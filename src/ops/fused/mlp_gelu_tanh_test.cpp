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

/// x, weight, projection and, where there are any, both biases.
struct Operands {
  Tensor x, weight, projection, bias, projection_bias;

  explicit Operands(const Tensors& all) : x(all[0]), weight(all[1]), projection(all[2]) {
    if (all.size() > 3) bias = all[3], projection_bias = all[4];
  }
};

Tensor forward(const Tensors& all) {
  const Operands in(all);
  return mlp_gelu_tanh(in.x, in.weight, in.bias, in.projection, in.projection_bias);
}
void pullback(const Tensors& all, Tensor d_y, const Gradients& d) {
  const Operands in(all);
  const bool biased = all.size() > 3;
  clad::pullback_state<MlpGeluState> state;
  pullbacks::mlp_gelu_tanh_reverse_forw(in.x, in.weight, in.bias, in.projection, in.projection_bias, state);
  pullbacks::mlp_gelu_tanh_pullback(in.x, in.weight, in.bias, in.projection, in.projection_bias,
                                    std::move(d_y), d[0], d[1], biased ? d[3] : nullptr, d[2],
                                    biased ? d[4] : nullptr, state);
}

TEST(MlpGeluTanh, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {0, 4}}) {
    const Shape weight{6, shape.back()}, projection{4, 6};
    EXPECT_TRUE(testing::gradients_match(forward, pullback, normals({shape, weight, projection, {6}, {4}})));
    EXPECT_TRUE(testing::gradients_match(forward, pullback, normals({shape, weight, projection})));
  }
}

TEST(MlpGeluTanh, RoundsAsTheThreeOperations) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Tensors x, d(5), expected(5);
    for (const Tensor& t : normals({{70, 33}, {130, 33}, {20, 130}, {130}, {20}})) x.push_back(t.to(dtype));
    const Tensor d_y = normals({{70, 20}}, 4)[0].to(dtype);
    const Tensor before = linear(x[0], x[1], x[3]), hidden = gelu_tanh(before);
    EXPECT_TRUE(same_bits(forward(x), linear(hidden, x[2], x[4])));
    pullback(x, d_y, {&d[0], &d[1], &d[2], &d[3], &d[4]});
    Tensor d_hidden, d_before;
    pullbacks::linear_pullback(hidden, x[2], x[4], d_y, &d_hidden, &expected[2], &expected[4]);
    pullbacks::pointwise_pullback(functions::GeluTanh{}, before, d_hidden, &d_before);
    pullbacks::linear_pullback(x[0], x[1], x[3], d_before, &expected[0], &expected[1], &expected[3]);
    for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(same_bits(d[i], expected[i])) << i;
  }
}

TEST(MlpGeluTanh, IsOneOperation) {
  const Tensors x = normals({{3, 5}, {4, 5}, {2, 4}, {4}, {2}});
  int64_t before = op_count();
  const Tensor y = forward(x);
  EXPECT_EQ(op_count() - before, 1);
  before = op_count();
  Tensors d(5);
  pullback(x, y, {&d[0], &d[1], &d[2], &d[3], &d[4]});
  EXPECT_EQ(op_count() - before, 1);
}

TEST(MlpGeluTanh, NamesTheShapesThatDoNotFit) {
  const Tensors x = normals({{3, 5}, {4, 5}, {2, 3}});
  EXPECT_THROW(forward(x), Error);
}

}  // namespace
}  // namespace cladtorch
