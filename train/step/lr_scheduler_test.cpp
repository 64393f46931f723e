#include "cladtorch/train/lr_scheduler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace cladtorch {
namespace {

TEST(StepLR, FallsAfterEachStepSize) {
  const StepLR schedule{.lr = 0.5, .step_size = 3, .gamma = 0.1};
  for (int64_t step = 0; step < 10; ++step)
    EXPECT_DOUBLE_EQ(schedule.at(step), step < 3 ? 0.5 : step < 6 ? 0.05 : step < 9 ? 0.005 : 0.0005) << step;
}

TEST(ExponentialLR, FallsByTheSameFactor) {
  const ExponentialLR schedule{.lr = 2, .gamma = 0.5};
  EXPECT_DOUBLE_EQ(schedule.at(0), 2);
  EXPECT_DOUBLE_EQ(schedule.at(1), 1);
  EXPECT_DOUBLE_EQ(schedule.at(10), std::ldexp(2, -10));
}

TEST(MultiStepLR, FallsAtEachMilestone) {
  const MultiStepLR schedule{.lr = 1, .milestones = {2, 5}, .gamma = 0.5};
  for (int64_t step = 0; step < 8; ++step)
    EXPECT_DOUBLE_EQ(schedule.at(step), step < 2 ? 1 : step < 5 ? 0.5 : 0.25) << step;
}

TEST(LambdaLR, FollowsAFunction) {
  const LambdaLR schedule{.lr = 0.5, .lr_lambda = [](int64_t step) { return 1.0 / (1.0 + double(step)); }};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(3), 0.125);
}

TEST(CosineAnnealingWarmRestarts, BeginsAgainInLongerCycles) {
  const CosineAnnealingWarmRestarts schedule{.lr = 3, .T_0 = 2, .T_mult = 2, .eta_min = 1};
  for (const int64_t start : {0, 2, 6, 14}) EXPECT_DOUBLE_EQ(schedule.at(start), 3) << start;
  for (const int64_t middle : {1, 4, 10}) EXPECT_DOUBLE_EQ(schedule.at(middle), 2) << middle;
  const CosineAnnealingWarmRestarts same{.lr = 1, .T_0 = 4};
  EXPECT_DOUBLE_EQ(same.at(4000000002), 0.5);
}

TEST(CyclicLR, RisesAndFallsOverAndOver) {
  CyclicLR schedule{.base_lr = 1, .max_lr = 5, .step_size_up = 4, .step_size_down = 2};
  const std::vector<double> cycle = {1, 2, 3, 4, 5, 3};
  for (size_t step = 0; step < 18; ++step)
    EXPECT_DOUBLE_EQ(schedule.at(static_cast<int64_t>(step)), cycle[step % 6]) << step;
  schedule.mode = CyclicMode::triangular2;
  EXPECT_DOUBLE_EQ(schedule.at(6 + 4), 3);
  EXPECT_DOUBLE_EQ(schedule.at(12 + 4), 2);
  schedule = {.base_lr = 1, .max_lr = 5, .step_size_up = 4, .mode = CyclicMode::exp_range, .gamma = 0.5};
  EXPECT_DOUBLE_EQ(schedule.at(4), 1 + 4.0 / 16);
  EXPECT_DOUBLE_EQ(schedule.at(6), 1 + 2.0 / 64);
}

TEST(OneCycleLR, RisesToTheMaximumAndFallsBelowItsStart) {
  for (const AnnealStrategy strategy : {AnnealStrategy::cos, AnnealStrategy::linear}) {
    const OneCycleLR schedule{.max_lr = 1,
                              .total_steps = 21,
                              .pct_start = 5.0 / 21,
                              .anneal_strategy = strategy,
                              .div_factor = 10,
                              .final_div_factor = 100};
    const auto at = [&](double from, double to, double share) {
      return strategy == AnnealStrategy::linear
                 ? from + (to - from) * share
                 : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
    };
    for (int step = 0; step <= 4; ++step)
      EXPECT_NEAR(schedule.at(step), at(0.1, 1, step / 4.0), 1e-12) << step;
    for (int step = 4; step <= 20; ++step)
      EXPECT_NEAR(schedule.at(step), at(1, 0.001, (step - 4) / 16.0), 1e-12) << step;
    EXPECT_NEAR(schedule.at(50), 0.001, 1e-12);
  }
}

TEST(OneCycleLR, MayBeginAtTheMaximumOrOnlyRise) {
  EXPECT_DOUBLE_EQ((OneCycleLR{.max_lr = 1, .total_steps = 10, .pct_start = 0.1}.at(0)), 1);
  EXPECT_DOUBLE_EQ((OneCycleLR{.max_lr = 1, .total_steps = 10, .pct_start = 1}.at(9)), 1);
  EXPECT_DOUBLE_EQ((OneCycleLR{.max_lr = 1, .total_steps = 1}.at(0)), 1.0 / 25 / 1e4);
}

std::vector<double> rates(ReduceLROnPlateau plateau, const std::vector<double>& metrics) {
  std::vector<double> all;
  double lr = 1;
  for (const double metric : metrics) all.push_back(lr = plateau.update(metric, lr));
  return all;
}

TEST(ReduceLROnPlateau, LowersTheRateAfterMoreBadMetricsThanItsPatience) {
  const ReduceLROnPlateau plateau{.factor = 0.5, .patience = 1, .threshold = 0.1, .min_lr = 0.3};
  // 0.95 is not better than 1 by a tenth, 0.8 is. The second fall is less than a half.
  EXPECT_EQ(rates(plateau, {1, 0.95, 0.94, 0.8, 0.8, NAN, 0.8, 0.8}),
            (std::vector<double>{1, 1, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3}));
}

TEST(ReduceLROnPlateau, WaitsForItsCooldown) {
  const ReduceLROnPlateau plateau{.factor = 0.5, .patience = 0, .cooldown = 2};
  EXPECT_EQ(rates(plateau, {1, 1, 1, 1, 1, 1, 1}), (std::vector<double>{1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25}));
}

TEST(ReduceLROnPlateau, MayLookForTheHighestMetric) {
  const ReduceLROnPlateau plateau{.mode = PlateauMode::max, .factor = 0.5, .patience = 0};
  EXPECT_EQ(rates(plateau, {0.1, 0.2, 0.3, 0.3}), (std::vector<double>{1, 1, 1, 0.5}));
}

TEST(ReduceLROnPlateau, LeavesOutSmallChanges) {
  const ReduceLROnPlateau plateau{.factor = 0.5, .patience = 0, .eps = 0.3};
  EXPECT_EQ(rates(plateau, {1, 1, 1}), (std::vector<double>{1, 0.5, 0.5}));
}

TEST(ReduceLROnPlateau, ContinuesFromWhatItRemembers) {
  ReduceLROnPlateau one{.factor = 0.5, .patience = 1};
  one.update(3, 1);
  one.update(3, 1);
  ReduceLROnPlateau two{.factor = 0.5, .patience = 1, .best = one.best, .num_bad_epochs = one.num_bad_epochs};
  EXPECT_EQ(two.update(3, 1), 0.5);
}

}  // namespace
}  // namespace cladtorch
