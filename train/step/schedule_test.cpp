#include "cladtorch/train/schedule.h"

#include <gtest/gtest.h>

#include "cladtorch/error.h"

namespace cladtorch {
namespace {

Schedule schedule(ScheduleKind kind) { return {.kind = kind, .peak = 1.0, .minimum = 0.1, .warmup = 10}; }

TEST(Schedule, WarmsUpInAStraightLineThatStartsAboveZero) {
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
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
}

TEST(Schedule, PassesTheMiddleWhereItsCurveSays) {
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::cosine).at(55, 100), 0.55);
  EXPECT_NEAR(schedule(ScheduleKind::cosine).at(40, 100), 0.1 + 0.9 * 0.75, 1e-12);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::linear).at(40, 100), 0.7);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::wsd).at(79, 100), 1.0);
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::wsd).at(90, 100), 0.55);
}

TEST(Schedule, StaysInRangeWhenTheWarmUpIsLongerThanTheRun) {
  for (const auto kind : {ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    for (int step = 0; step < 30; ++step) {
      EXPECT_GT(schedule(kind).at(step, 5), 0.0);
      EXPECT_LE(schedule(kind).at(step, 5), 1.0);
    }
  }
}

TEST(ScheduleKind, IsReadBackFromItsNameAndNothingElse) {
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    EXPECT_EQ(schedule_kind_from_string(to_string(kind)), kind);
  }
  EXPECT_THROW(schedule_kind_from_string("cosin"), Error);
}

}  // namespace
}  // namespace cladtorch
