#include "cladtorch/ops/dropout.h"

#include <clad/checkpoint.h>

#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;

TEST(Dropout, IsTheIdentityOutsideATrainingScope) {
  const Tensor x = normals({{10}})[0];
  EXPECT_TRUE(dropout(x, 0.5).shares_storage_with(x));
  const TrainingScope scope(1, 1);
  EXPECT_TRUE(dropout(x, 0).shares_storage_with(x));
  EXPECT_EQ(testing::error_of([&] { dropout(x, 1); }), "dropout: expected a probability in [0, 1), got 1");
}

TEST(Dropout, DropsTheGivenShareAndKeepsTheMean) {
  const TrainingScope scope(1, 1);
  const Tensor y = dropout(ones({100000}), 0.2);
  int64_t dropped = 0;
  for (int64_t i = 0; i < y.numel(); ++i) {
    const float value = y.data<float>()[i];
    ASSERT_TRUE(value == 0 || value == 1.25f);
    dropped += value == 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped), 20000, 600);
}

TEST(Dropout, MasksDependOnSeedStepAndCallOnly) {
  const Tensor x = ones({1000});
  const auto draw = [&](uint64_t seed, uint64_t step, int call) {
    const TrainingScope scope(seed, step);
    for (int i = 0; i < call; ++i) dropout(x, 0.5);
    return dropout(x, 0.5);
  };
  const Tensor reference = draw(1, 2, 1);
  EXPECT_EQ(relative_difference(draw(1, 2, 1), reference), 0);
  EXPECT_GT(relative_difference(draw(2, 2, 1), reference), 0);
  EXPECT_GT(relative_difference(draw(1, 3, 1), reference), 0);
  EXPECT_GT(relative_difference(draw(1, 2, 0), reference), 0);
  const int before = num_threads();
  set_num_threads(1);
  EXPECT_EQ(relative_difference(draw(1, 2, 1), reference), 0);
  set_num_threads(before);
}

TEST(Dropout, WhatIsComputedAgainDrawsTheSameMasks) {
  const Tensor x = ones({1000});
  const TrainingScope scope(1, 2);
  dropout(x, 0.5);
  const clad::moment then = clad::now();
  const Tensor first = dropout(x, 0.5), second = dropout(x, 0.5);
  Tensor again;
  clad::replay(then, [&] { again = dropout(x, 0.5); });
  EXPECT_EQ(relative_difference(again, first), 0);
  const Tensor third = dropout(x, 0.5);
  EXPECT_GT(relative_difference(third, first), 0);
  EXPECT_GT(relative_difference(third, second), 0) << "the masks go on where they were";
}

TEST(Dropout, GradientUsesTheMaskOfTheForward) {
  for (const Shape& shape : {Shape{0}, {1}, {5}, {3, 4, 5}}) {
    for (double probability : {0.0, 0.3}) {
      EXPECT_TRUE(testing::gradients_match(
          [&](const Tensors& x) {
            const TrainingScope scope(1, 1);
            return dropout(x[0], probability);
          },
          [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
            clad::pullback_state<DropoutState> state;
            {
              const TrainingScope scope(1, 1);
              pullbacks::dropout_reverse_forw(x[0], probability, state);
            }
            pullbacks::dropout_pullback({}, probability, d_y, d[0], nullptr, state);
          },
          normals({shape})));
    }
  }
}

}  // namespace
}  // namespace cladtorch
