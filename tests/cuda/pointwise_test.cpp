#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::gpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

/// Around the sizes of packs, of blocks, and none.
const std::vector<Shape> shapes = {{0}, {1}, {7}, {8}, {9}, {3, 5}, {2, 3, 171}, {4, 512}};

template <class Value, class Pullback>
void check(Value value, Pullback pullback, double low = -INFINITY) {
  for (const Shape& shape : shapes) {
    Tensors x = normals({shape});
    for (int64_t i = 0; i < x[0].numel(); ++i) {
      double& v = x[0].data<double>()[i];
      if (v < low) v = low + std::abs(v);
    }
    EXPECT_TRUE(agrees_with_cpu(
        [&](const Tensors& at) { return value(at[0]); },
        [&](const Tensors& at, Tensor d_y, const Gradients& d) { pullback(at[0], std::move(d_y), d[0]); }, x))
        << shape;
  }
}

TEST(CudaPointwise, Swiglu) {
  for (const Shape& shape : shapes) {
    EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return swiglu(x[0], x[1]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::swiglu_pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
                                },
                                normals({shape, shape})));
  }
}

TEST(CudaPointwise, DropoutDrawsTheMasksOfTheCpu) {
  for (const Shape& shape : shapes) {
    const auto in_scope = [&](const Tensor& x, clad::pullback_state<DropoutState>& state) {
      const TrainingScope scope(7, 3);
      return pullbacks::dropout_reverse_forw(x, 0.3, state);
    };
    EXPECT_TRUE(agrees_with_cpu(
        [&](const Tensors& x) {
          clad::pullback_state<DropoutState> state;
          return in_scope(x[0], state);
        },
        [&](const Tensors& x, Tensor d_y, const Gradients& d) {
          clad::pullback_state<DropoutState> state;
          in_scope(x[0], state);
          pullbacks::dropout_pullback(x[0], 0.3, std::move(d_y), d[0], nullptr, state);
        },
        normals({shape})));
  }
}

TEST(CudaPointwise, ScaleAndAddScalar) {
  check([](const Tensor& x) { return scale(x, 0.7); },
        [](const Tensor& x, Tensor d_y, Tensor* d_x) {
          pullbacks::scale_pullback(x, 0.7, std::move(d_y), d_x, nullptr);
        });
  check([](const Tensor& x) { return add_scalar(x, 0.7); },
        [](const Tensor& x, Tensor d_y, Tensor* d_x) {
          pullbacks::add_scalar_pullback(x, 0.7, std::move(d_y), d_x, nullptr);
        });
}

/// Equal shapes, and every way to broadcast.
const std::vector<std::pair<Shape, Shape>> pairs = {
    {{0}, {0}},       {{9}, {9}},   {{3, 170}, {3, 170}}, {{2, 3, 40}, {40}},  {{40}, {2, 3, 40}},
    {{5, 1}, {1, 7}}, {{}, {3, 4}}, {{2, 1, 5}, {3, 1}},  {{1000, 3}, {1, 3}}, {{3, 1000}, {3, 1}}};

template <class Value, class Pullback>
void check_pairs(Value value, Pullback pullback, double shift = 0) {
  for (const auto& [a, b] : pairs) {
    Tensors x = normals({a, b});
    for (int64_t i = 0; i < x[1].numel(); ++i)
      x[1].data<double>()[i] += std::copysign(shift, x[1].data<double>()[i]);
    EXPECT_TRUE(agrees_with_cpu([&](const Tensors& at) { return value(at[0], at[1]); },
                                [&](const Tensors& at, Tensor d_y, const Gradients& d) {
                                  pullback(at[0], at[1], std::move(d_y), d[0], d[1]);
                                },
                                x))
        << a << ' ' << b;
  }
}

TEST(CudaPointwise, AddAndSub) {
  check_pairs(add, [](const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
    clad::pullback_state<BroadcastState> state;
    pullbacks::add_reverse_forw(a, b, state);
    pullbacks::add_pullback(a, b, std::move(d_y), d_a, d_b, state);
  });
  check_pairs(sub, [](const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
    clad::pullback_state<BroadcastState> state;
    pullbacks::sub_reverse_forw(a, b, state);
    pullbacks::sub_pullback(a, b, std::move(d_y), d_a, d_b, state);
  });
}

TEST(CudaPointwise, MulAndDiv) {
  check_pairs(mul, pullbacks::mul_pullback);
  check_pairs(div, pullbacks::div_pullback, 0.5);
}

TEST(CudaPointwise, NamesOperandsOnTwoDevices) {
  EXPECT_EQ(testing::error_of([] { add(ones({2}), ones({2}, DType::float32, gpu)); }),
            "add: devices differ: a is on cpu, b is on cuda:0; copy with to(device)");
  const Tensor x = ones({2, 2}, DType::float32, gpu);
  EXPECT_EQ(testing::error_of([&] { linear(x, x, ones({2})); }),
            "linear: devices differ: x is on cuda:0, bias is on cpu; copy with to(device)");
}

TEST(CudaPointwise, NamesOperationsWithoutCode) {
  EXPECT_EQ(testing::error_of([] { cumsum(ones({2}, DType::float32, gpu), 0); }),
            "cumsum: there is no code for CUDA devices; use the cpu");
}

}  // namespace
}  // namespace cladtorch
