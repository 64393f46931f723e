// Losses, of which the host learns nothing until it asks.
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

constexpr int64_t ignored = -7;

/// Classes of rows, of which every third is ignored: the rows that are `first`, `first` + 3, ...
Tensor some_targets(const Shape& rows, int64_t classes, int64_t first = 1) {
  Tensor targets = Tensor::empty(rows, DType::int32);
  for (int64_t i = 0; i < targets.numel(); ++i) {
    const int64_t picked = i == 0 ? classes - 1 : i * 31 % classes;
    targets.data<int32_t>()[i] = static_cast<int32_t>(i % 3 == first ? ignored : picked);
  }
  return targets;
}

struct CrossEntropy {
  Tensor targets;
  Tensor there(const Tensors& x) const { return targets.to(x[0].device()); }
  Tensor forward(const Tensors& x) const { return cross_entropy(x[0], there(x), ignored); }
  void pullback(const Tensors& x, Tensor d_y, const Gradients& d) const {
    clad::pullback_state<CrossEntropyState> state;
    pullbacks::cross_entropy_reverse_forw(x[0], there(x), ignored, state);
    pullbacks::cross_entropy_pullback(x[0], there(x), ignored, std::move(d_y), d[0], nullptr, state);
  }
};

struct NllLoss {
  Tensor targets;
  Tensor there(const Tensors& x) const { return targets.to(x[0].device()); }
  Tensor forward(const Tensors& x) const { return nll_loss(x[0], there(x), ignored); }
  void pullback(const Tensors& x, Tensor d_y, const Gradients& d) const {
    pullbacks::nll_loss_pullback(x[0], there(x), ignored, std::move(d_y), d[0], nullptr);
  }
};

template <class Loss>
void check(const Loss& loss, const Shape& shape) {
  EXPECT_TRUE(agrees_with_cpu(
      [&](const Tensors& x) { return loss.forward(x); },
      [&](const Tensors& x, Tensor d_y, const Gradients& d) { loss.pullback(x, std::move(d_y), d); },
      normals({shape})));
}

/// Around packs; rows of a warp and of a block, that start between packs; more rows than a block of threads
/// has; none; no dimension but the classes.
const std::vector<Shape> shapes = {{0, 5},  {5, 1},    {9},       {4, 8},    {2, 3, 31},
                                   {40, 7}, {3, 2047}, {2, 2049}, {3, 5003}, {1030, 3}};

TEST(CudaLoss, CrossEntropy) {
  for (const Shape& shape : shapes)
    check(CrossEntropy{some_targets(shape.without(shape.rank() - 1), shape.back())}, shape);
}

TEST(CudaLoss, NllLoss) {
  for (const Shape& shape : shapes)
    check(NllLoss{some_targets(shape.without(shape.rank() - 1), shape.back())}, shape);
}

TEST(CudaLoss, NothingCounts) {
  const Tensor targets = full({4}, ignored, DType::int32);
  check(CrossEntropy{targets}, {4, 9});
  check(NllLoss{targets}, {4, 9});
}

TEST(CudaLoss, TakesTargetsOf64Bits) {
  const Tensor targets = some_targets({4}, 9).to(DType::int64);
  check(CrossEntropy{targets}, {4, 9});
  check(NllLoss{targets}, {4, 9});
}

TEST(CudaLoss, AnUnknownTargetShowsInTheLoss) {
  for (int32_t unknown : {-1, 9, INT32_MAX}) {
    Tensor targets = some_targets({4}, 9, 2);
    targets.data<int32_t>()[1] = unknown;
    const Tensor x = normals({{4, 9}})[0].to(DType::float32).to(gpu);
    const Tensor d_y = ones({}, DType::float32, gpu);
    Tensor d[2];
    CrossEntropy{targets}.pullback({x}, d_y, {&d[0]});
    NllLoss{targets}.pullback({x}, d_y, {&d[1]});
    EXPECT_TRUE(std::isnan(CrossEntropy{targets}.forward({x}).item()));
    EXPECT_TRUE(std::isnan(NllLoss{targets}.forward({x}).item()));
    for (Tensor& gradient : d) {
      const Tensor here = gradient.to(Device{});
      for (int64_t i = 0; i < 36; ++i) EXPECT_EQ(std::isnan(here.data<float>()[i]), i / 9 == 1);
    }
  }
  const Tensor x = normals({{4, 9}})[0].to(gpu);
  EXPECT_EQ(error_of([&] { cross_entropy(x, zeros({4}, DType::int32)); }),
            "cross_entropy: devices differ: logits is on cuda:0, targets is on cpu; copy with to(device)");
  EXPECT_EQ(error_of([&] { nll_loss(x, zeros({4}, DType::float32, gpu)); }),
            "nll_loss: expected int32 or int64 targets, got float32");
}

TEST(CudaLoss, Infinities) {
  Tensor x = normals({{3, 5000}})[0].to(DType::float32);
  x.narrow(1, 1, 4000).fill_(-INFINITY);
  const CrossEntropy loss{full({3}, 4999, DType::int32)};
  EXPECT_NEAR(loss.forward({x.to(gpu)}).item(), loss.forward({x}).item(), 1e-5);
}

/// Rows that do not start where memory does.
TEST(CudaLoss, PartsOfTensors) {
  for (int64_t n : {50, 2100}) {
    const Tensor x = normals({{3, n}})[0].flatten().narrow(0, 1, 2 * n).reshape({2, n});
    const CrossEntropy loss{some_targets({2}, n, 2)};
    const Tensor there = x.to(gpu).flatten();
    Tensor memory = zeros({2 * n + 1}, DType::float64, gpu);
    memory.narrow(0, 1, 2 * n).copy_from(there);
    const Tensor part = memory.narrow(0, 1, 2 * n).reshape({2, n});
    Tensor d, expected;
    loss.pullback({part}, ones({}, DType::float64, gpu), {&d});
    loss.pullback({x}, ones({}, DType::float64), {&expected});
    EXPECT_LT(testing::relative_difference(d.to(Device{}), expected), 1e-12);
  }
}

TEST(CudaLoss, MseLoss) {
  for (const Shape& shape : {Shape{}, {1}, {7}, {8}, {9}, {3, 5}, {2, 3, 171}, {3, 4099}, {9001}}) {
    EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return mse_loss(x[0], x[1]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  pullbacks::mse_loss_pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
                                },
                                normals({shape, shape})));
  }
  const Tensors many = normals({{264, 4099}, {264, 4099}});  // more blocks than one has threads to add sums
  EXPECT_NEAR(mse_loss(many[0].to(gpu), many[1].to(gpu)).item(), mse_loss(many[0], many[1]).item(), 1e-12);
}

}  // namespace
}  // namespace cladtorch
