// linear_cross_entropy against differences, and against cross_entropy of linear, which stores the scores.
#include "cladtorch/ops/loss.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;

struct Result {
  Tensor loss, d_x, d_weight;
};

Result fused(const Tensor& x, const Tensor& weight, const Tensor& targets, double cotangent = 1) {
  Result result;
  clad::pullback_state<LinearCrossEntropyState> state;
  result.loss = pullbacks::linear_cross_entropy_reverse_forw(x, weight, targets, -100, state);
  pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, full({}, cotangent, x.dtype()), &result.d_x,
                                           &result.d_weight, nullptr, state);
  return result;
}

Result separate(const Tensor& x, const Tensor& weight, const Tensor& targets, double cotangent = 1) {
  Result result;
  const Tensor logits = linear(x, weight);
  clad::pullback_state<CrossEntropyState> state;
  result.loss = pullbacks::cross_entropy_reverse_forw(logits, targets, -100, state);
  Tensor d_logits;
  pullbacks::cross_entropy_pullback(logits, targets, -100, full({}, cotangent, x.dtype()), &d_logits, nullptr,
                                    state);
  pullbacks::linear_pullback(x, weight, d_logits, &result.d_x, &result.d_weight);
  return result;
}

void expect_equal(const Result& got, const Result& expected, double tolerance) {
  EXPECT_LE(relative_difference(got.loss, expected.loss), tolerance);
  EXPECT_LE(relative_difference(got.d_x, expected.d_x), tolerance);
  EXPECT_LE(relative_difference(got.d_weight, expected.d_weight), tolerance);
}

/// Some targets are ignored.
Tensor targets_for(const Shape& shape, int64_t classes) {
  Tensor targets = testing::random_tokens(shape, classes, 3);
  for (int64_t i = 1; i < targets.numel(); i += 5) targets.data<int32_t>()[i] = -100;
  return targets;
}

TEST(LinearCrossEntropy, GradientsMatchDifferences) {
  for (int64_t classes : {2, 17, 600}) {
    for (const Shape& rows : {Shape{1}, {2, 3}, {7}}) {
      Shape shape = rows;
      shape.push_back(5);
      const Tensor targets = targets_for(rows, classes);
      EXPECT_TRUE(testing::gradients_match(
          [&](const Tensors& x) { return linear_cross_entropy(x[0], x[1], targets); },
          [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
            clad::pullback_state<LinearCrossEntropyState> state;
            pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], targets, -100, state);
            pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, std::move(d_y), d[0], d[1], nullptr,
                                                     state);
          },
          normals({shape, {classes, 5}})));
    }
  }
}

TEST(LinearCrossEntropy, OfOneClassIsZero) {
  const Tensors x = normals({{3, 5}, {1, 5}});
  const Result result = fused(x[0], x[1], zeros({3}, DType::int32));
  EXPECT_NEAR(result.loss.item(), 0, 1e-14);
  EXPECT_LT(relative_difference(result.d_x, zeros({3, 5}, DType::float64)), 1e-14);
  EXPECT_LT(relative_difference(result.d_weight, zeros({1, 5}, DType::float64)), 1e-14);
}

TEST(LinearCrossEntropy, EqualsTheTwoOperationsInOneChunkManyPiecesAndManyBlocks) {
  struct Size {
    int64_t rows, classes, channels;
  };
  for (const Size& size : std::vector<Size>{
           {3, 512, 4}, {5, 513, 4}, {9, 40000, 3}, {3, 16385, 1}, {140, 100001, 16}, {260, 60000, 2}}) {
    const Tensors x = normals({{size.rows, size.channels}, {size.classes, size.channels}});
    const Tensor targets = targets_for({size.rows}, size.classes);
    expect_equal(fused(x[0], x[1], targets, -2.5), separate(x[0], x[1], targets, -2.5), 1e-11);
  }
}

TEST(LinearCrossEntropy, FloatAgreesWithDouble) {
  struct Size {
    int64_t rows, classes, channels;
  };
  for (const Size& size : std::vector<Size>{{1, 9001, 40}, {16, 9001, 40}, {70, 9001, 40}, {260, 60001, 2}}) {
    const Tensors x = normals({{size.rows, size.channels}, {size.classes, size.channels}});
    const Tensor targets = targets_for({size.rows}, size.classes);
    const auto f = [](const Tensor& t) { return t.to(DType::float32); };
    expect_equal(fused(f(x[0]), f(x[1]), targets), separate(x[0], x[1], targets), 3e-6);
  }
}

/// The exponentials and x / Z are rounded to bfloat16 once each, at random.
TEST(LinearCrossEntropy, Bfloat16AgreesWithDoubleAndComputesTheLossInFloat) {
  struct Size {
    int64_t rows, classes, channels;
  };
  for (const Size& size : std::vector<Size>{{1, 9001, 40}, {70, 9001, 40}, {260, 60001, 2}}) {
    Tensors x = normals({{size.rows, size.channels}, {size.classes, size.channels}});
    for (Tensor& t : x) t = t.to(DType::bfloat16);
    const Tensor targets = targets_for({size.rows}, size.classes);
    const Result expected = separate(x[0].to(DType::float64), x[1].to(DType::float64), targets, -2.5),
                 got = fused(x[0], x[1], targets, -2.5);
    EXPECT_EQ(got.loss.dtype(), DType::float32);
    EXPECT_EQ(got.d_x.dtype(), DType::bfloat16);
    EXPECT_EQ(got.d_weight.dtype(), DType::bfloat16);
    EXPECT_LE(relative_difference(got.loss, expected.loss), 1e-6);
    EXPECT_LE(relative_difference(got.d_x, expected.d_x), 0x1p-7);
    EXPECT_LE(relative_difference(got.d_weight, expected.d_weight), 0x1p-7);

    Tensor d_weight = gradient_buffer_like(x[1]);
    clad::pullback_state<LinearCrossEntropyState> state;
    pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], targets, -100, state);
    pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, full({}, -2.5), nullptr, &d_weight, nullptr,
                                             state);
    EXPECT_EQ(d_weight.dtype(), DType::float32);
    EXPECT_LE(relative_difference(d_weight, expected.d_weight), 0x1p-8);
  }
}

TEST(LinearCrossEntropy, FloatStaysFiniteWhenTheTargetIsVeryUnlikely) {
  for (double size : {10.0, 100.0, 1e5}) {
    Tensors x = normals({{6, 8}, {700, 8}});
    x[0] = x[0].to(DType::float32);
    x[1] = x[1].to(DType::float32);
    for (int64_t i = 0; i < x[0].numel(); ++i) x[0].data<float>()[i] *= static_cast<float>(size);
    const Tensor targets = targets_for({6}, 700);
    const Result got = fused(x[0], x[1], targets),
                 expected = separate(x[0].to(DType::float64), x[1].to(DType::float64), targets);
    EXPECT_GT(expected.loss.item(), 30);
    expect_equal(got, expected, 2e-5 * std::sqrt(size));
    EXPECT_NEAR(linear_cross_entropy(x[0], x[1], targets).item() / expected.loss.item(), 1, 1e-5);
  }
}

TEST(LinearCrossEntropy, NanReachesTheLoss) {
  Tensors x = normals({{3, 4}, {700, 4}});
  x[1].data<double>()[699 * 4] = NAN;
  EXPECT_TRUE(std::isnan(linear_cross_entropy(x[0], x[1], from_values<int32_t>({3}, {0, 1, 2})).item()));
}

TEST(LinearCrossEntropy, IgnoredRowsCountNeitherInTheSumNorInTheMean) {
  const Tensors x = normals({{3, 5}, {7, 5}});
  const double both =
      linear_cross_entropy(x[0].narrow(0, 0, 2), x[1], from_values<int32_t>({2}, {1, 4})).item();
  EXPECT_DOUBLE_EQ(linear_cross_entropy(x[0], x[1], from_values<int32_t>({3}, {1, 4, -100})).item(), both);
  EXPECT_EQ(linear_cross_entropy(x[0], x[1], full({3}, 2, DType::int32), 2).item(), 0);
}

TEST(LinearCrossEntropy, AllRowsIgnoredGivesZeroGradients) {
  const Tensors x = normals({{3, 5}, {7, 5}});
  const Result result = fused(x[0], x[1], full({3}, -100, DType::int32));
  EXPECT_EQ(result.loss.item(), 0);
  EXPECT_EQ(relative_difference(result.d_x, zeros({3, 5}, DType::float64)), 0);
  EXPECT_EQ(relative_difference(result.d_weight, zeros({7, 5}, DType::float64)), 0);
}

TEST(LinearCrossEntropy, NeverStoresTheScoresOfAllRows) {
  const int64_t rows = 1000, classes = 50257, channels = 2;
  const Tensor x = zeros({rows, channels}), weight = zeros({classes, channels}),
               targets = zeros({rows}, DType::int32);
  Workspace workspace;
  {
    const Workspace::Step step(workspace);
    EXPECT_NEAR(fused(x, weight, targets).loss.item(), std::log(50257.0), 1e-5);
  }
  EXPECT_LT(workspace.statistics().planned_bytes, 300u * classes * sizeof(float));
}

TEST(LinearCrossEntropy, DoesNotDependOnTheNumberOfThreads) {
  const Tensors x = normals({{20, 16}, {3000, 16}});
  const Tensor a = x[0].to(DType::float32), b = x[1].to(DType::float32), targets = targets_for({20}, 3000);
  const int before = num_threads();
  set_num_threads(1);
  const Result one = fused(a, b, targets);
  set_num_threads(3);
  expect_equal(fused(a, b, targets), one, 0);
  set_num_threads(before);
}

TEST(LinearCrossEntropy, NamesWhatDoesNotFit) {
  EXPECT_EQ(
      error_of([] { linear_cross_entropy(zeros({2, 3}), zeros({4, 5}), zeros({2}, DType::int32)); }),
      "linear_cross_entropy: expected x [..., C], weight [V, C] and targets [...]: x is [2,3], weight is "
      "[4,5], targets is [2]");
  EXPECT_EQ(error_of([] { linear_cross_entropy(zeros({1, 3}), zeros({4, 3}), full({1}, 4, DType::int32)); }),
            "linear_cross_entropy: target 4 is outside the 4 classes; ignore_index is -100");
}

}  // namespace
}  // namespace cladtorch
