#include "cladtorch/ops/ops.h"
#include "ops/linear_cross_entropy/linear_cross_entropy_on_device.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::gpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

/// Every third is ignored.
Tensor targets_for(const Shape& shape, int64_t vocabulary) {
  Tensor targets = Tensor::empty(shape, DType::int32);
  for (int64_t i = 0; i < targets.numel(); ++i)
    targets.data<int32_t>()[i] = i % 3 == 2 ? -100 : static_cast<int32_t>(i * 7 % vocabulary);
  return targets;
}

void check(const Shape& x, int64_t vocabulary, const Tensor& targets) {
  EXPECT_TRUE(agrees_with_cpu(
      [&](const Tensors& t) { return linear_cross_entropy(t[0], t[1], targets.to(t[0].device())); },
      [&](const Tensors& t, Tensor d_y, const Gradients& d) {
        clad::pullback_state<LinearCrossEntropyState> state;
        pullbacks::linear_cross_entropy_reverse_forw(t[0], t[1], targets.to(t[0].device()), -100, state);
        pullbacks::linear_cross_entropy_pullback(t[0], t[1], targets, -100, std::move(d_y), d[0], d[1],
                                                 nullptr, state);
      },
      normals({x, {vocabulary, x.back()}})))
      << x << ' ' << vocabulary;
}

TEST(CudaLinearCrossEntropy, AgreesWithTheCpu) {
  for (int64_t vocabulary : {7, 8, 65}) check({2, 2, 5}, vocabulary, targets_for({2, 2}, vocabulary));
  check({2, 16}, 9000, targets_for({2}, 9000));  // several packs per thread
  check({1, 1}, 3, targets_for({1}, 3));
  check({0, 4}, 3, targets_for({0}, 3));
  check({3, 0}, 4, targets_for({3}, 4));
}

TEST(CudaLinearCrossEntropy, IsZeroWhereAllRowsAreIgnored) {
  check({4, 8}, 10, full({4}, -100, DType::int32));
}

TEST(CudaLinearCrossEntropy, IsNanWhereATargetIsOutOfRange) {
  const Tensors x = normals({{4, 8}, {10, 8}});
  for (int32_t wrong : {10, -1}) {
    Tensor targets = full({4}, 3, DType::int32);
    targets.data<int32_t>()[2] = wrong;
    const Tensor loss = linear_cross_entropy(x[0].to(DType::float32).to(gpu), x[1].to(DType::float32).to(gpu),
                                             targets.to(gpu));
    EXPECT_TRUE(std::isnan(loss.item()));
  }
}

/// Blocks of 128 rows, with and without what is left of one.
TEST(CudaLinearCrossEntropy, GoesThroughRowsInBlocks) {
  for (int64_t rows : {256, 300}) {
    const Tensors x = normals({{rows, 8}, {40, 8}});
    const Tensor targets = targets_for({rows}, 40), d_y = full({}, 0.5, DType::float64);
    clad::pullback_state<LinearCrossEntropyState> expected;
    const Tensor loss = pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], targets, -100, expected);
    Tensor d_x, d_weight, got_x, got_weight;
    pullbacks::linear_cross_entropy_pullback(x[0], x[1], targets, -100, d_y, &d_x, &d_weight, nullptr,
                                             expected);
    LinearCrossEntropyState state;
    const Tensor got =
        detail::linear_cross_entropy_forward(x[0].to(gpu), x[1].to(gpu), targets.to(gpu), -100, &state, 1);
    detail::linear_cross_entropy_backward(state, d_y.to(gpu), &got_x, &got_weight);
    EXPECT_NEAR(got.item(), loss.item(), 1e-12);
    EXPECT_LT(testing::relative_difference(got_x.to(Device{}), d_x), 1e-12);
    EXPECT_LT(testing::relative_difference(got_weight.to(Device{}), d_weight), 1e-12);
  }
}

TEST(CudaLinearCrossEntropy, KeepsNothingForWhatIsFrozen) {
  Tensor x = normals({{4, 8}})[0].to(DType::float32).to(gpu).clone(),
         weight = normals({{10, 8}})[0].to(DType::float32).to(gpu).clone();
  weight.set_frozen(true);
  clad::pullback_state<LinearCrossEntropyState> state;
  const Tensor targets = targets_for({4}, 10).to(gpu);
  const Tensor loss = pullbacks::linear_cross_entropy_reverse_forw(x, weight, targets, -100, state);
  EXPECT_FALSE(state.data.d_weight.defined());
  Tensor d_x, d_weight;
  pullbacks::linear_cross_entropy_pullback(x, weight, targets, -100, full({}, 1, DType::float32, gpu), &d_x,
                                           &d_weight, nullptr, state);
  EXPECT_TRUE(d_x.defined());
  EXPECT_FALSE(d_weight.defined());
}

}  // namespace
}  // namespace cladtorch
