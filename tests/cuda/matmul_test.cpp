#include "cladtorch/ops/ops.h"
#include "ops/matmul/matmul_on_device.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::gpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

void check_matmul(const Shape& a, const Shape& b) {
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return matmul(x[0], x[1]); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                pullbacks::matmul_pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
                              },
                              normals({a, b})))
      << a << ' ' << b;
}

TEST(CudaMatmul, Matrices) {
  check_matmul({1, 1}, {1, 1});
  check_matmul({5, 3}, {3, 7});
  check_matmul({16, 8}, {8, 24});
  check_matmul({1, 9}, {9, 1});
  check_matmul({17, 1}, {1, 3});
}

TEST(CudaMatmul, EmptyMatrices) {
  check_matmul({0, 3}, {3, 4});
  check_matmul({2, 0}, {0, 4});
  check_matmul({2, 3}, {3, 0});
  check_matmul({0, 2, 3}, {3, 4});
  check_matmul({0, 2, 3}, {0, 3, 4});
}

TEST(CudaMatmul, Batches) {
  check_matmul({3, 4, 5}, {3, 5, 2});
  check_matmul({2, 3, 4, 5}, {2, 3, 5, 8});
  check_matmul({2, 3, 4, 5}, {5, 6});     // one matrix on the right
  check_matmul({4, 5}, {2, 3, 5, 6});     // one on the left
  check_matmul({2, 1, 4, 5}, {3, 5, 6});  // both are stretched
  check_matmul({1, 3, 4, 5}, {2, 3, 5, 6});
}

void check_linear(const Shape& shape, int64_t out) {
  const auto biased = [](const Tensors& x) { return linear(x[0], x[1], x[2]); };
  const auto plain = [](const Tensors& x) { return linear(x[0], x[1]); };
  const Tensors operands = normals({shape, {out, shape.back()}, {out}});
  EXPECT_TRUE(agrees_with_cpu(
      biased,
      [](const Tensors& x, Tensor d_y, const Gradients& d) {
        pullbacks::linear_pullback(x[0], x[1], x[2], std::move(d_y), d[0], d[1], d[2]);
      },
      operands))
      << shape << ' ' << out;
  EXPECT_TRUE(agrees_with_cpu(plain,
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                pullbacks::linear_pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
                              },
                              {operands[0], operands[1]}))
      << shape << ' ' << out;
}

TEST(CudaLinear, AgreesWithTheCpu) {
  check_linear({7}, 3);
  check_linear({1, 16}, 1);
  check_linear({2, 3, 17}, 9);
  check_linear({2, 4, 16}, 24);  // the sums of the bias come with the product
  check_linear({0, 4}, 5);
  check_linear({3, 0}, 5);
}

TEST(CudaLinear, LeavesOutWhatIsFrozen) {
  Tensors x;
  for (const Tensor& one : normals({{4, 8}, {16, 8}, {16}, {4, 16}}))
    x.push_back(one.to(DType::float32).to(gpu).clone());
  x[0].set_frozen(true);
  x[1].set_frozen(true);
  Tensor d_x, d_weight, d_bias;
  EXPECT_FALSE(linear(x[0], x[1], x[2]).is_frozen());
  pullbacks::linear_pullback(x[0], x[1], x[2], x[3], &d_x, &d_weight, &d_bias);
  EXPECT_FALSE(d_x.defined());
  EXPECT_FALSE(d_weight.defined());
  EXPECT_TRUE(d_bias.defined());
}

TEST(CudaLinear, WithGeluAgreesWithTheCpu) {
  const auto pullback = [](const Tensors& x, Tensor d_y, const Gradients& d) {
    const Tensor bias = x.size() > 2 ? x[2] : Tensor();
    clad::pullback_state<LinearGeluState> state;
    pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], bias, state);
    pullbacks::linear_gelu_tanh_pullback(x[0], x[1], bias, std::move(d_y), d[0], d[1],
                                         x.size() > 2 ? d[2] : nullptr, state);
  };
  for (const Shape& shape : {Shape{7}, {2, 3, 16}, {0, 4}, {3, 0}}) {
    for (int64_t out : {3, 24}) {
      const Tensors x = normals({shape, {out, shape.back()}, {out}});
      EXPECT_TRUE(
          agrees_with_cpu([](const Tensors& t) { return linear_gelu_tanh(t[0], t[1], t[2]); }, pullback, x))
          << shape << ' ' << out;
      EXPECT_TRUE(agrees_with_cpu([](const Tensors& t) { return linear_gelu_tanh(t[0], t[1], Tensor()); },
                                  pullback, {x[0], x[1]}))
          << shape << ' ' << out;
    }
  }
}

TEST(CudaMlp, AgreesWithTheCpu) {
  const auto forward = [](const Tensors& x) {
    const bool biased = x.size() > 3;
    return mlp_gelu_tanh(x[0], x[1], biased ? x[3] : Tensor(), x[2], biased ? x[4] : Tensor());
  };
  const auto pullback = [](const Tensors& x, Tensor d_y, const Gradients& d) {
    const bool biased = x.size() > 3;
    const Tensor bias = biased ? x[3] : Tensor(), projection_bias = biased ? x[4] : Tensor();
    clad::pullback_state<MlpGeluState> state;
    pullbacks::mlp_gelu_tanh_reverse_forw(x[0], x[1], bias, x[2], projection_bias, state);
    pullbacks::mlp_gelu_tanh_pullback(x[0], x[1], bias, x[2], projection_bias, std::move(d_y), d[0], d[1],
                                      biased ? d[3] : nullptr, d[2], biased ? d[4] : nullptr, state);
  };
  for (const Shape& shape : {Shape{7}, {2, 3, 16}, {0, 4}, {3, 0}}) {
    for (int64_t hidden : {3, 24}) {
      const Tensors x = normals({shape, {hidden, shape.back()}, {8, hidden}, {hidden}, {8}});
      EXPECT_TRUE(agrees_with_cpu(forward, pullback, x)) << shape << ' ' << hidden;
      EXPECT_TRUE(agrees_with_cpu(forward, pullback, {x[0], x[1], x[2]})) << shape << ' ' << hidden;
    }
  }
}

/// Only what GELU is taken of is kept; which gradients are wanted does not change the others.
TEST(CudaMlp, ComputesWhatIsWanted) {
  Tensors x;
  for (const Tensor& one : normals({{6, 16}, {24, 16}, {24}, {8, 24}, {8}, {6, 8}}))
    x.push_back(one.to(DType::bfloat16).to(gpu));
  const auto gradients = [&](unsigned wanted) {
    Tensors d(5);
    Gradients to(5);
    for (size_t i = 0; i < 5; ++i) to[i] = (wanted >> i & 1) != 0 ? &d[i] : nullptr;
    clad::pullback_state<MlpGeluState> state;
    pullbacks::mlp_gelu_tanh_reverse_forw(x[0], x[1], x[2], x[3], x[4], state);
    EXPECT_FALSE(state.data.hidden.defined());
    pullbacks::mlp_gelu_tanh_pullback(x[0], x[1], x[2], x[3], x[4], x[5], to[0], to[1], to[2], to[3], to[4],
                                      state);
    return d;
  };
  const Tensors all = gradients(0x1f);
  for (unsigned wanted = 0; wanted < 0x1f; ++wanted) {
    const Tensors some = gradients(wanted);
    for (size_t i = 0; i < 5; ++i) {
      ASSERT_EQ(some[i].defined(), (wanted >> i & 1) != 0) << wanted;
      if (!some[i].defined()) continue;
      EXPECT_LT(testing::relative_difference(some[i].to(Device{}), all[i].to(Device{})), 6e-3)
          << wanted << ' ' << i;
    }
  }
}

TEST(CudaLinear, WithGeluKeepsTheResultOfItsForward) {
  Tensors x;
  for (const Tensor& one : normals({{6, 16}, {8, 16}, {8}})) x.push_back(one.to(DType::bfloat16).to(gpu));
  clad::pullback_state<LinearGeluState> state;
  const int64_t before = op_count();
  const Tensor y = pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], x[2], state);
  EXPECT_EQ(op_count() - before, 1);
  EXPECT_LT(testing::relative_difference(y.to(Device{}), gelu_tanh(linear(x[0], x[1], x[2])).to(Device{})),
            6e-3);
  EXPECT_TRUE(testing::same_bits(state.data.linear, linear(x[0], x[1], x[2])));
}

TEST(CudaColumnSums, AddRowsOfAllShapes) {
  for (const Shape& shape : {Shape{1, 1}, {0, 5}, {63, 8}, {64, 256}, {65, 257}, {200, 264}, {1000, 40}}) {
    for (DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
      const Tensor x = normals({shape})[0].to(dtype), there = x.to(gpu);
      Tensor expected = zeros({shape[1]}, DType::float64);
      for (int64_t i = 0; i < shape[0]; ++i)
        expected = testing::moved(expected, 1, x.to(DType::float64).select(0, i));
      Tensor sums, workspace = detail::column_sums_workspace(there);
      detail::column_sums_on_device(there, accumulate_into(&sums, {shape[1]}, dtype, gpu), workspace);
      EXPECT_LT(testing::relative_difference(sums.to(Device{}), expected), testing::tolerance(dtype))
          << shape << ' ' << dtype;
    }
  }
}

}  // namespace
}  // namespace cladtorch
