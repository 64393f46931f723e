// Layer and RMS normalization.
#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::error_of;
using testing::gpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

constexpr double epsilon = 1e-3;

Tensor optional(const Tensors& x, size_t i) { return i < x.size() ? x[i] : Tensor(); }

/// x, weight and perhaps a bias. `d` may have no place for the bias.
struct LayerNorm {
  static Tensor forward(const Tensors& x) { return layer_norm(x[0], x[1], optional(x, 2), epsilon); }
  static void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
    clad::pullback_state<LayerNormState> state;
    pullbacks::layer_norm_reverse_forw(x[0], x[1], optional(x, 2), epsilon, state);
    pullbacks::layer_norm_pullback(x[0], x[1], optional(x, 2), epsilon, std::move(d_y), d[0], d[1],
                                   d.size() > 2 ? d[2] : nullptr, nullptr, state);
  }
};

struct RmsNorm {
  static Tensor forward(const Tensors& x) { return rms_norm(x[0], x[1], epsilon); }
  static void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
    clad::pullback_state<RMSNormState> state;
    pullbacks::rms_norm_reverse_forw(x[0], x[1], epsilon, state);
    pullbacks::rms_norm_pullback(x[0], x[1], epsilon, std::move(d_y), d[0], d[1], nullptr, state);
  }
};

/// Around packs and warps; rows that no pack fits; around what a block holds, of each dtype; none.
const std::vector<Shape> shapes = {{0, 8},    {3, 1},    {7},       {9, 31},   {17, 32},
                                   {3, 257},  {20, 264}, {2, 520},  {9, 768},  {2, 1023},
                                   {2, 1032}, {1, 4097}, {2, 4104}, {17, 8200}};
/// One for each way.
const std::vector<Shape> few_shapes = {{3, 5}, {9, 40}, {2, 1029}, {2, 1048}, {17, 8200}};

TEST(CudaNorm, LayerNorm) {
  for (const Shape& shape : shapes) {
    const Shape columns{shape.back()};
    EXPECT_TRUE(agrees_with_cpu(LayerNorm::forward, LayerNorm::pullback, normals({shape, columns, columns})));
  }
  EXPECT_TRUE(agrees_with_cpu(LayerNorm::forward, LayerNorm::pullback, normals({{9, 64}, {64}})));
}

TEST(CudaNorm, RmsNorm) {
  for (const Shape& shape : few_shapes)
    EXPECT_TRUE(agrees_with_cpu(RmsNorm::forward, RmsNorm::pullback, normals({shape, {shape.back()}})));
}

TEST(CudaNorm, ManyRowsShareTheBlocks) {
  EXPECT_TRUE(agrees_with_cpu(LayerNorm::forward, LayerNorm::pullback, normals({{530, 8}, {8}, {8}})));
}

/// Sum and normalization in one tensor.
Tensor one_of(const NormalizedSum& y) {
  Shape shape = y.sum.shape();
  shape[0] *= 2;
  Tensor both = Tensor::empty(shape, y.sum.dtype(), y.sum.device());
  both.narrow(0, 0, shape[0] / 2).copy_from(y.sum);
  both.narrow(0, shape[0] / 2, shape[0] / 2).copy_from(y.normalized);
  return both;
}
NormalizedSum halves_of(const Tensor& both) {
  const int64_t half = both.size(0) / 2;
  return {both.narrow(0, 0, half).clone(), both.narrow(0, half, half)};
}

struct AddLayerNorm {
  static Tensor forward(const Tensors& x) {
    return one_of(add_layer_norm(x[0], x[1], x[2], optional(x, 3), epsilon));
  }
  static void pullback(const Tensors& x, const Tensor& d_y, const Gradients& d) {
    clad::pullback_state<AddLayerNormState> state;
    pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], optional(x, 3), epsilon, state);
    pullbacks::add_layer_norm_pullback({}, {}, x[2], optional(x, 3), epsilon, halves_of(d_y), d[0], d[1],
                                       d[2], d.size() > 3 ? d[3] : nullptr, nullptr, state);
  }
};

struct AddRmsNorm {
  static Tensor forward(const Tensors& x) { return one_of(add_rms_norm(x[0], x[1], x[2], epsilon)); }
  static void pullback(const Tensors& x, const Tensor& d_y, const Gradients& d) {
    clad::pullback_state<AddRMSNormState> state;
    pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], epsilon, state);
    pullbacks::add_rms_norm_pullback({}, {}, x[2], epsilon, halves_of(d_y), d[0], d[1], d[2], nullptr, state);
  }
};

TEST(CudaNorm, AddLayerNorm) {
  for (const Shape& shape : few_shapes) {
    const Shape columns{shape.back()};
    EXPECT_TRUE(agrees_with_cpu(AddLayerNorm::forward, AddLayerNorm::pullback,
                                normals({shape, shape, columns, columns})));
  }
  EXPECT_TRUE(
      agrees_with_cpu(AddLayerNorm::forward, AddLayerNorm::pullback, normals({{3, 64}, {3, 64}, {64}})));
}

TEST(CudaNorm, AddRmsNorm) {
  for (const Shape& shape : few_shapes)
    EXPECT_TRUE(
        agrees_with_cpu(AddRmsNorm::forward, AddRmsNorm::pullback, normals({shape, shape, {shape.back()}})));
}

TEST(CudaNorm, FrozenAndStrangeOperands) {
  const Tensors x = normals({{6, 40}, {40}, {40}, {6, 40}});
  Tensors there;
  for (const Tensor& one : x) there.push_back(one.to(gpu));
  there[1].set_frozen(true);
  Tensor d_x, d_weight, d_bias;
  clad::pullback_state<LayerNormState> state;
  EXPECT_FALSE(pullbacks::layer_norm_reverse_forw(there[0], there[1], there[2], epsilon, state).is_frozen());
  double d_epsilon = 0;
  pullbacks::layer_norm_pullback(there[0], there[1], there[2], epsilon, there[3], &d_x, &d_weight, &d_bias,
                                 &d_epsilon, state);
  EXPECT_FALSE(d_weight.defined());
  EXPECT_TRUE(d_x.is_cuda() && d_bias.is_cuda());
  EXPECT_TRUE(std::isnan(d_epsilon));
  EXPECT_EQ(error_of([&] { layer_norm(there[0], x[1], there[2]); }),
            "layer_norm: devices differ: x is on cuda:0, weight is on cpu; copy with to(device)");
}

}  // namespace
}  // namespace cladtorch
