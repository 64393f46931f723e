// Softmax, its logarithm, and causal masks.
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
using State = clad::pullback_state<OutputState>;

/// Around packs and warps; rows that start between packs; around what a block holds, of each dtype; none.
const std::vector<Shape> shapes = {{0, 8},    {4, 1},    {7},       {2, 3, 8}, {9, 31},   {17, 32},
                                   {5, 253},  {3, 257},  {9, 505},  {3, 600},  {3, 1019}, {2, 1024},
                                   {3, 1027}, {2, 4089}, {1, 4097}, {2, 4104}, {3, 8195}};

struct Softmax {
  static Tensor forward(const Tensors& x) { return softmax(x[0]); }
  static void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
    State state;
    pullbacks::softmax_reverse_forw(x[0], state);
    pullbacks::softmax_pullback(x[0], std::move(d_y), d[0], state);
  }
};

struct LogSoftmax {
  static Tensor forward(const Tensors& x) { return log_softmax(x[0]); }
  static void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
    State state;
    pullbacks::log_softmax_reverse_forw(x[0], state);
    pullbacks::log_softmax_pullback(x[0], std::move(d_y), d[0], state);
  }
};

TEST(CudaSoftmax, Softmax) {
  for (const Shape& shape : shapes)
    EXPECT_TRUE(agrees_with_cpu(Softmax::forward, Softmax::pullback, normals({shape})));
}

TEST(CudaSoftmax, LogSoftmax) {
  for (const Shape& shape : {Shape{3, 5}, {2, 1000}, {3, 4101}, {3, 8195}})
    EXPECT_TRUE(agrees_with_cpu(LogSoftmax::forward, LogSoftmax::pullback, normals({shape})));
}

/// Rows that do not start where memory does.
TEST(CudaSoftmax, PartsOfTensors) {
  for (int64_t n : {50, 8300}) {
    const Tensor x = normals({{3, n}})[0].to(DType::float32), tail = x.narrow(0, 1, 2);
    const Tensor there = x.to(gpu).narrow(0, 1, 2);
    EXPECT_TRUE(there.is_contiguous());
    EXPECT_LT(testing::relative_difference(softmax(there).to(Device{}), softmax(tail)), 1e-6);
    State state, expected_state;
    pullbacks::softmax_reverse_forw(there, state);
    pullbacks::softmax_reverse_forw(tail, expected_state);
    Tensor d, expected;
    const Tensor d_y = x.flatten().narrow(0, 3, 2 * n).reshape({2, n});
    pullbacks::softmax_pullback(there, x.to(gpu).flatten().narrow(0, 3, 2 * n).reshape({2, n}), &d, state);
    pullbacks::softmax_pullback(tail, d_y, &expected, expected_state);
    EXPECT_LT(testing::relative_difference(d.to(Device{}), expected), 1e-5);
  }
}

void expect_same_numbers(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(Device{});
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const float x = a.data<float>()[i], y = expected.data<float>()[i];
    EXPECT_TRUE((std::isnan(x) && std::isnan(y)) || x == y || std::abs(x - y) < 1e-5f) << i << ": " << x;
  }
}

TEST(CudaSoftmax, InfinitiesAndNaNAreWhereTheyAreOnTheCpu) {
  for (int64_t n : {40, 5000, 9000}) {
    Tensor x = normals({{6, n}})[0].to(DType::float32);
    x.select(0, 1).fill_(-INFINITY);
    x.select(0, 2).narrow(0, 1, n - 1).fill_(-INFINITY);
    x.select(0, 3).narrow(0, 0, n - 2).fill_(-INFINITY);
    x.select(0, 4).select(0, 3).fill_(NAN);
    x.select(0, 4).narrow(0, 4, n - 8).fill_(-INFINITY);
    x.select(0, 5).select(0, n - 1).fill_(INFINITY);
    expect_same_numbers(softmax(x.to(gpu)), softmax(x));
    expect_same_numbers(log_softmax(x.to(gpu)), log_softmax(x));
  }
}

TEST(CudaSoftmax, CausalMasks) {
  for (const Shape& shape :
       {Shape{1, 1}, {3, 3}, {2, 3, 5}, {3, 3, 6}, {2, 2, 8, 8}, {3, 33, 40}, {0, 4, 4}, {2, 17, 17}}) {
    EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return tril(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::tril_pullback(x[0], std::move(d_y), d[0]);
                                },
                                normals({shape})));
    for (DType dtype : {DType::float64, DType::bfloat16}) {
      const Tensor x = normals({shape})[0].to(dtype);
      EXPECT_TRUE(testing::same_bits(causal_mask(x.to(gpu)), causal_mask(x)));
    }
  }
}

}  // namespace
}  // namespace cladtorch
