#include "train/run/rank_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/thread_ranks.h"

namespace cladtorch::train {
namespace {

using testing::HasSubstr;

std::vector<RankWord> words(double slow) {
  return {{.seconds = 0.5, .waited = 0.1}, {.seconds = 0.52, .waited = 0.1}, {.seconds = slow, .waited = 0}};
}

TEST(RankTimes, NameTheRankThatTheOthersWaitFor) {
  comm::run_ranks(3, 1, [](comm::Communicator& ranks) {
    RankTimes times;
    times.add(words(5));
    EXPECT_EQ(times.news(ranks), "") << "one slow step says nothing";
    for (int step = 0; step < 200; ++step) times.add(words(0.53));
    EXPECT_EQ(times.news(ranks), "");
    EXPECT_EQ(times.summary(ranks, 0.67), "3 ranks, which wait for each other 10 % of the time");
    for (int step = 0; step < 200; ++step) times.add(words(1.04));
    EXPECT_THAT(times.news(ranks), HasSubstr("rank 2 on this machine computes 2.0 times as long"));
    EXPECT_EQ(times.news(ranks), "") << "it is said once";
    EXPECT_THAT(times.summary(ranks, 1.04), HasSubstr("rank 2 on this machine computes 2.0 times"));
  });
}

TEST(RankTimes, SayNothingOfARankThatIsAlone) {
  RankTimes times;
  for (int step = 0; step < 50; ++step) times.add(std::vector<RankWord>{{.seconds = 1}});
  EXPECT_EQ(times.news(comm::self()), "");
  EXPECT_EQ(times.summary(comm::self(), 1), "");
}

}  // namespace
}  // namespace cladtorch::train
