#include "cladtorch/train/stop_signal.h"

#include <gtest/gtest.h>

namespace cladtorch::train {
namespace {

TEST(StopSignal, IsRequestedByEachOfItsSignalsAndGoesAwayWithTheObject) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    {
      const StopSignal stop;
      EXPECT_FALSE(stop.requested());
      ::raise(signal);
      EXPECT_TRUE(stop.requested());
    }
    EXPECT_EQ(::signal(signal, SIG_DFL), SIG_DFL);
  }
}

TEST(StopSignal, LeavesAnIgnoredSignalIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  {
    const StopSignal stop;
    ::raise(SIGHUP);
    EXPECT_FALSE(stop.requested());
  }
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(StopSignal, ASecondSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests of this program have started threads
  EXPECT_EXIT(
      {
        const StopSignal stop;
        ::raise(SIGTERM);
        if (stop.requested()) ::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace cladtorch::train
