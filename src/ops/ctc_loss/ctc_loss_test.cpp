#include "cladtorch/ops/ctc_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace of = clad::custom_derivatives::cladtorch::detail;
using testing::error_of;
using testing::normals;
using testing::Tensors;

Tensor ints(std::initializer_list<int32_t> values) {
  return from_values<int32_t>({static_cast<int64_t>(values.size())}, values);
}

/// The sum over all paths of `steps` classes that spell the labels.
double loss_by_enumeration(const Tensor& x, int64_t n, int64_t steps, const std::vector<int64_t>& labels,
                           int64_t blank) {
  const int64_t classes = x.size(2);
  double total = 0;
  std::vector<int64_t> path(static_cast<size_t>(steps));
  const auto count = static_cast<int64_t>(std::pow(classes, steps) + 0.5);
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    double score = 0;
    std::vector<int64_t> spelled;
    for (int64_t t = 0; t < steps; ++t, rest /= classes) {
      path[static_cast<size_t>(t)] = rest % classes;
      score += x.select(0, t).select(0, n).select(0, rest % classes).item();
      if (rest % classes != blank && (t == 0 || path[static_cast<size_t>(t - 1)] != rest % classes))
        spelled.push_back(rest % classes);
    }
    if (spelled == labels) total += std::exp(score);
  }
  return -std::log(total);
}

TEST(CTCLoss, IsTheSumOverAllPaths) {
  const Tensor x = normals({{5, 3, 3}})[0];
  for (const int64_t blank : {0, 2}) {
    const int32_t a = blank == 0 ? 1 : 0, b = blank == 0 ? 2 : 1;
    const Tensor losses = ctc_loss(x, ints({a, a, b, b, a}), ints({5, 4, 3}), ints({3, 0, 2}),
                                   {.blank = blank, .reduction = Reduction::none});
    EXPECT_NEAR(losses.select(0, 0).item(), loss_by_enumeration(x, 0, 5, {a, a, b}, blank), 1e-12);
    EXPECT_NEAR(losses.select(0, 1).item(), loss_by_enumeration(x, 1, 4, {}, blank), 1e-12);
    EXPECT_NEAR(losses.select(0, 2).item(), loss_by_enumeration(x, 2, 3, {b, a}, blank), 1e-12);
  }
}

TEST(CTCLoss, ReducesAsPyTorch) {
  const Tensor x = normals({{5, 2, 3}})[0], targets = from_values<int64_t>({2, 2}, {1, 2, 2, -7});
  const auto loss = [&](Reduction reduction) {
    return ctc_loss(x, targets, ints({5, 4}), ints({2, 1}), {.reduction = reduction});
  };
  const Tensor each = loss(Reduction::none);
  const double first = each.select(0, 0).item(), second = each.select(0, 1).item();
  EXPECT_NEAR(loss(Reduction::sum).item(), first + second, 1e-14);
  EXPECT_NEAR(loss(Reduction::mean).item(), (first / 2 + second) / 2, 1e-14);
}

/// Of numbers that are no log-probabilities.
TEST(CTCLoss, GradientsMatchDifferences) {
  const Tensor targets = from_values<int32_t>({3, 3}, {1, 1, 2, 2, 3, 1, 3, 3, 3});
  const Tensor steps = ints({7, 5, 6}), counts = ints({3, 2, 3});
  EXPECT_TRUE(testing::gradients_match(
      [&](const Tensors& x) { return detail::ctc_losses(x[0], targets, steps, counts, 0); },
      [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
        clad::pullback_state<CTCState> state;
        of::ctc_losses_reverse_forw(x[0], targets, steps, counts, 0, state);
        of::ctc_losses_pullback(x[0], targets, steps, counts, 0, std::move(d_y), d[0], nullptr, nullptr,
                                nullptr, state);
      },
      normals({{7, 3, 4}})));
}

TEST(CTCLoss, OfASequenceThatIsTooShortIsInfiniteAndHasNoDerivative) {
  const Tensor x = log_softmax(normals({{3, 2, 3}})[0]), targets = ints({1, 1, 2}), steps = ints({2, 3}),
               counts = ints({2, 1});
  EXPECT_EQ(ctc_loss(x, targets, steps, counts).item(), INFINITY);
  const CTCOptions zero{.reduction = Reduction::sum, .zero_infinity = true};
  EXPECT_EQ(ctc_loss(x, targets, steps, counts, zero).item(),
            detail::ctc_losses(x, targets, steps, counts, 0).select(0, 1).item());
  clad::pullback_state<CTCState> state;
  of::ctc_losses_reverse_forw(x, targets, steps, counts, 0, state);
  Tensor d_x;
  const auto pull = [&](const Tensor& seeds) {
    of::ctc_losses_pullback(x, targets, steps, counts, 0, seeds, &d_x, nullptr, nullptr, nullptr, state);
  };
  EXPECT_EQ(error_of([&] { pull(ones({2}, DType::float64)); }),
            "ctc_loss: sequence 0 of 2 steps has an infinite loss for its 2 labels, which has no derivative; "
            "set zero_infinity to leave it out");
  pull(from_values<double>({2}, {0, 1}));
  EXPECT_EQ(sum(abs(d_x.select(1, 0))).item(), 0);
  EXPECT_GT(sum(abs(d_x.select(1, 1))).item(), 0);
}

TEST(CTCLoss, OfConstantsIsAConstant) {
  Tensor x = log_softmax(normals({{3, 1, 3}})[0]), d_x;
  x.set_frozen(true);
  clad::pullback_state<CTCState> state;
  const Tensor losses = of::ctc_losses_reverse_forw(x, ints({1}), ints({3}), ints({1}), 0, state);
  EXPECT_TRUE(losses.is_frozen());
  of::ctc_losses_pullback(x, ints({1}), ints({3}), ints({1}), 0, ones({1}, DType::float64), &d_x, nullptr,
                          nullptr, nullptr, state);
  EXPECT_FALSE(d_x.defined());
}

TEST(CTCLoss, DoesNotUnderflowOverManySteps) {
  const Tensor x = log_softmax(randn({2000, 1, 40}, *std::make_unique<Random>(3)));
  Tensor targets = ones({1, 300}, DType::int32);
  for (int64_t i = 0; i < 300; ++i) targets.data<int32_t>()[i] = static_cast<int32_t>(1 + i * 7 % 39);
  const double loss = ctc_loss(x, targets, ints({2000}), ints({300}), {.reduction = Reduction::sum}).item();
  EXPECT_GT(loss, 1000);
  EXPECT_TRUE(std::isfinite(loss));
}

TEST(CTCLoss, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = log_softmax(normals({{20, 7, 5}})[0]), targets = ones({7, 3}, DType::int32);
  const Tensor steps = full({7}, 20, DType::int32), counts = full({7}, 3, DType::int32);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = detail::ctc_losses(x, targets, steps, counts, 0);
  set_num_threads(3);
  EXPECT_TRUE(testing::same_bits(detail::ctc_losses(x, targets, steps, counts, 0), one));
  set_num_threads(before);
}

TEST(CTCLoss, ErrorsSayWhatDoesNotFit) {
  const Tensor x = zeros({4, 2, 3});
  const auto error = [&](const Tensor& targets, const Tensor& steps, const Tensor& counts,
                         int64_t blank = 0) {
    return error_of([&] { ctc_loss(x, targets, steps, counts, {.blank = blank}); });
  };
  const Tensor good = ints({1, 2}), lengths = ints({4, 4}), counts = ints({1, 1});
  EXPECT_EQ(error(good, lengths, counts), "no error");
  EXPECT_EQ(error(good, ints({4, 5}), counts), "ctc_loss: sequence 1 has 5 steps, expected at most 4");
  EXPECT_EQ(error(good, lengths, ints({1, 2})),
            "ctc_loss: sequence 1 has 2 labels, which targets [2] do not have");
  EXPECT_EQ(error(ints({1, 2, 1}), lengths, counts),
            "ctc_loss: the target_lengths sum to 2, but there are 3 targets");
  EXPECT_EQ(error(ints({1, 0}), lengths, counts),
            "ctc_loss: label 0 of sequence 1 is the blank or outside the 3 classes");
  EXPECT_EQ(error(good, lengths, counts, 3), "ctc_loss: the blank 3 is outside the 3 classes");
  EXPECT_EQ(error(good, ints({4}), counts), "ctc_loss: expected input_lengths [2], got [1]");
  EXPECT_EQ(error_of([&] { ctc_loss(zeros({4, 3}), good, lengths, counts); }),
            "ctc_loss: expected log-probabilities [T, N, C], got [4,3]");
}

}  // namespace
}  // namespace cladtorch
