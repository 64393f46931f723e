#include "data/prepare/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace cladtorch::data {
namespace {

/// Squares of 0 .. count - 1, as far as they came out.
struct Squares {
  std::vector<int> squares;
  std::string error;
};

Squares square(int threads, int count, int bad_unit = -1, int bad_work = -1, int bad_result = -1) {
  Squares result;
  int next = 0;
  try {
    OrderedPipeline<int, int>(threads).run(
        [&]() -> std::optional<int> {
          if (next == bad_unit) throw std::runtime_error("unit " + std::to_string(next));
          return next < count ? std::optional(next++) : std::nullopt;
        },
        [&](int unit) {
          if (bad_work >= 0 && unit >= bad_work) throw std::runtime_error("work " + std::to_string(unit));
          return unit * unit;
        },
        [&](int square) {
          if (static_cast<int>(result.squares.size()) == bad_result) throw std::runtime_error("result");
          result.squares.push_back(square);
        });
  } catch (const std::runtime_error& error) {
    result.error = error.what();
  }
  return result;
}

TEST(OrderedPipeline, GivesResultsInTheOrderOfTheUnits) {
  for (int threads : {1, 2, 5}) {
    for (int count : {0, 1, 2, 3, 1000}) {
      const Squares run = square(threads, count);
      EXPECT_EQ(run.error, "");
      ASSERT_EQ(run.squares.size(), static_cast<size_t>(count));
      for (int i = 0; i < count; ++i) ASSERT_EQ(run.squares[static_cast<size_t>(i)], i * i);
    }
  }
}

TEST(OrderedPipeline, ThrowsTheFirstErrorAfterAllResultsBeforeIt) {
  for (int threads : {1, 3}) {
    EXPECT_EQ(square(threads, 100, 40).error, "unit 40");
    EXPECT_EQ(square(threads, 100, 40).squares.size(), 40u);
    EXPECT_EQ(square(threads, 100, -1, 17).error, "work 17");
    EXPECT_EQ(square(threads, 100, -1, 17).squares.size(), 17u);
    EXPECT_EQ(square(threads, 100, 40, 17).error, "work 17");
    EXPECT_EQ(square(threads, 100, -1, -1, 5).error, "result");
  }
}

TEST(OrderedPipeline, HoldsAFewUnitsOnly) {
  std::atomic<int> on_their_way{0}, most{0};
  int left = 500;
  OrderedPipeline<int, int>(3).run(
      [&]() -> std::optional<int> {
        if (left-- == 0) return std::nullopt;
        const int now = ++on_their_way;
        if (now > most) most = now;
        return 0;
      },
      [](int unit) { return unit; }, [&](int) { --on_their_way; });
  EXPECT_LE(most, 2 * 3 + 2 + 1);
}

}  // namespace
}  // namespace cladtorch::data
