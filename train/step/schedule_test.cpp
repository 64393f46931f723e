#include "cladtorch/train/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cladtorch/error.h"

namespace cladtorch {
namespace {

constexpr ScheduleKind kinds[] = {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine,
                                  ScheduleKind::wsd,      ScheduleKind::step,   ScheduleKind::exponential,
                                  ScheduleKind::one_cycle};

Schedule schedule(ScheduleKind kind) { return {.kind = kind, .peak = 1.0, .minimum = 0.1, .warmup = 10}; }

TEST(Schedule, WarmsUpInAStraightLineThatStartsAboveZero) {
  for (const auto kind : kinds) {
    if (kind == ScheduleKind::one_cycle) continue;
    EXPECT_DOUBLE_EQ(schedule(kind).at(0, 100), 1.0 / 11);
    EXPECT_DOUBLE_EQ(schedule(kind).at(4, 100), 5.0 / 11);
    EXPECT_DOUBLE_EQ(schedule(kind).at(10, 100), 1.0) << to_string(kind);
  }
}

TEST(Schedule, FallsToTheMinimumAtTheEnd) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::cosine).at(100, 100), 0.1);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::linear).at(100, 100), 0.1);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::wsd).at(100, 100), 0.1);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::constant).at(100, 100), 1.0);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::exponential).at(100, 100), 0.1);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::one_cycle).at(99, 100), 0.1);
}

TEST(Schedule, PassesTheMiddleWhereItsCurveSays) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::cosine).at(55, 100), 0.55);
  EXPECT_NEAR(schedule(ScheduleKind::cosine).at(40, 100), 0.1 + 0.9 * 0.75, 1e-12);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::linear).at(40, 100), 0.7);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::wsd).at(79, 100), 1.0);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::wsd).at(90, 100), 0.55);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::exponential).at(55, 100), std::sqrt(0.1));
}

TEST(Schedule, FallsInStepsDownToTheMinimum) {
  Schedule steps = schedule(ScheduleKind::step);
  steps.step_size = 20;
  steps.gamma = 0.5;
  for (const int step : {10, 29, 30, 49, 50, 69, 70, 89, 90})
    EXPECT_DOUBLE_EQ(steps.at(step, 100), std::max(0.1, std::pow(0.5, (step - 10) / 20))) << step;
}

TEST(Schedule, GoesThroughOneCycle) {
  const Schedule cycle = schedule(ScheduleKind::one_cycle);
  const auto half_cosine = [](double share) { return 0.5 - 0.5 * std::cos(std::numbers::pi * share); };
  for (const int step : {0, 1, 5, 9})
    EXPECT_NEAR(cycle.at(step, 100), 0.04 + 0.96 * half_cosine(step / 9.0), 1e-12) << step;
  for (const int step : {9, 10, 50, 98, 99})
    EXPECT_NEAR(cycle.at(step, 100), 1 - 0.9 * half_cosine((step - 9) / 90.0), 1e-12) << step;
  Schedule to_zero = cycle;
  to_zero.minimum = 0;
  EXPECT_NEAR(to_zero.at(99, 100), 0, 1e-12);
}

TEST(Schedule, StaysInRangeWhenTheWarmUpIsLongerThanTheRun) {
  for (const auto kind : kinds) {
    for (int step = 0; step < 30; ++step) {
      EXPECT_GT(schedule(kind).at(step, 5), 0.0);
      EXPECT_LE(schedule(kind).at(step, 5), 1.0);
    }
  }
}

TEST(ScheduleKind, IsReadBackFromItsNameAndNothingElse) {
  for (const auto kind : kinds) EXPECT_EQ(schedule_kind_from_string(to_string(kind)), kind);
  EXPECT_THROW(schedule_kind_from_string("cosin"), Error);
}

}  // namespace
}  // namespace cladtorch
