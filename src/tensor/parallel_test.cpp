#include "cladtorch/tensor/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "cladtorch/error.h"

namespace cladtorch {
namespace {

/// Two threads, whatever the machine has.
class ParallelFor : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(2); }
  void TearDown() override { set_num_threads(before_); }
  int before_ = num_threads();
};

TEST_F(ParallelFor, PassesEveryIndexOnce) {
  std::array<std::atomic<int>, 101> visits{};
  parallel_for(101, 10, [&](int64_t begin, int64_t end) {
    EXPECT_LE(end - begin, 10);
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
}

TEST_F(ParallelFor, PreparesEveryThreadEvenOneThatGetsNoPiece) {
  std::atomic<int> prepared = 0;
  for (int repeat = 1; repeat <= 50; ++repeat) {
    parallel_for(2, 1, [&] { ++prepared; }, [](int64_t, int64_t) {});
    EXPECT_EQ(prepared, 2 * repeat);
  }
}

TEST_F(ParallelFor, PreparesTheCallerWhenThereIsOnePiece) {
  int prepared = 0, pieces = 0;
  parallel_for(5, 10, [&] { ++prepared; }, [&](int64_t, int64_t) { ++pieces; });
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(pieces, 1);
}

TEST(Threads, AreAsManyAsASystemMayServe) {
  const int before = num_threads();
  for (const int count : {-1, 0, most_threads + 1, 2147483647}) EXPECT_THROW(set_num_threads(count), Error);
  EXPECT_EQ(num_threads(), before);
}

}  // namespace
}  // namespace cladtorch
