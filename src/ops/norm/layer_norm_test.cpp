#include "cladtorch/ops/normalization.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
  clad::pullback_state<LayerNormState> state;
  pullbacks::layer_norm_reverse_forw(x[0], x[1], x[2], 1e-5, state);
  pullbacks::layer_norm_pullback(x[0], x[1], x[2], 1e-5, d_y, d[0], d[1], d[2], nullptr, state);
}

TEST(LayerNorm, NormalizesRows) {
  const Tensor x = from_values<double>({1, 2}, {1, 3});
  const Tensor y = layer_norm(x, ones({2}, DType::float64), full({2}, 10, DType::float64), 0);
  EXPECT_DOUBLE_EQ(y.select(1, 0).item(), 9);
  EXPECT_DOUBLE_EQ(y.select(1, 1).item(), 11);
  EXPECT_EQ(testing::error_of([] { layer_norm(zeros({2, 3}), ones({2}), zeros({2})); }),
            "layer_norm: expected x [..., C] and weight [C]: x is [2,3], weight is [2]");
}

TEST(LayerNorm, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {100, 4}, {0, 4}}) {
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); },
                                         pullback, normals({shape, {shape.back()}, {shape.back()}})));
  }
}

TEST(LayerNorm, WithoutBiasMatchesDifferences) {
  Tensor d_bias;
  EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return layer_norm(x[0], x[1], {}); },
                                       [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                         clad::pullback_state<LayerNormState> state;
                                         pullbacks::layer_norm_reverse_forw(x[0], x[1], {}, 1e-5, state);
                                         pullbacks::layer_norm_pullback(x[0], x[1], {}, 1e-5, d_y, d[0], d[1],
                                                                        &d_bias, nullptr, state);
                                       },
                                       normals({{3, 5}, {5}})));
  EXPECT_FALSE(d_bias.defined());
}

TEST(LayerNorm, GradientWithRespectToEpsilonMatchesDifferences) {
  const Tensors x = normals({{3, 5}, {5}, {5}});
  const auto epsilon = [](const Tensors& v) { return 0.5 + 0.1 * std::tanh(v[0].item()); };
  EXPECT_TRUE(
      testing::gradients_match([&](const Tensors& v) { return layer_norm(x[0], x[1], x[2], epsilon(v)); },
                               [&](const Tensors& v, Tensor d_y, const Gradients& d) {
                                 clad::pullback_state<LayerNormState> state;
                                 double d_epsilon = 0;
                                 pullbacks::layer_norm_reverse_forw(x[0], x[1], x[2], epsilon(v), state);
                                 pullbacks::layer_norm_pullback(x[0], x[1], x[2], epsilon(v), d_y, nullptr,
                                                                nullptr, nullptr, &d_epsilon, state);
                                 const double t = std::tanh(v[0].item());
                                 if (d[0] && d_y.defined())
                                   d[0]->accumulate(full({}, d_epsilon * 0.1 * (1 - t * t), DType::float64));
                               },
                               normals({{}})));
}

TEST(LayerNorm, FloatAgreesWithDouble) {
  const Tensors x = normals({{33, 70}, {70}, {70}});
  Tensors f;
  for (const Tensor& t : x) f.push_back(t.to(DType::float32));
  EXPECT_LT(testing::relative_difference(layer_norm(f[0], f[1], f[2]), layer_norm(x[0], x[1], x[2])), 1e-6);
  const Tensor d_y = normals({{33, 70}}, 8)[0];
  Tensors d(3), d_float(3);
  pullback(x, d_y, {&d[0], &d[1], &d[2]});
  pullback(f, d_y.to(DType::float32), {&d_float[0], &d_float[1], &d_float[2]});
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(testing::relative_difference(d_float[i], d[i]), 3e-6);
}

}  // namespace
}  // namespace cladtorch
