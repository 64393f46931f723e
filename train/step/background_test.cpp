#include "train/step/background.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/tensor/parallel.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

TEST(Background, DoesJobsInOrder) {
  for (const bool threaded : {false, true}) {
    std::string done;
    Background background(threaded);
    int64_t third = 0;
    for (int i = 0; i < 5; ++i) {
      const int64_t job = background.add([&done, i] { done += std::to_string(i); });
      if (i == 2) third = job;
    }
    background.wait(third);
    EXPECT_EQ(done.substr(0, 3), "012");
    background.wait();
    EXPECT_EQ(done, "01234");
  }
}

TEST(Background, RunsOperationsOfAJobOnOneThread) {
  Background background(true);
  int threads = 0;
  background.add([&] { threads = num_threads(); });
  background.wait();
  EXPECT_EQ(threads, 1);
}

TEST(Background, ThrowsWhatAJobThrowsAndDoesNoOther) {
  Background background(true);
  bool other = false;
  background.add([] { fail("the disk is full"); });
  background.add([&] { other = true; });
  EXPECT_EQ(io::error_of([&] { background.wait(); }), "the disk is full");
  EXPECT_EQ(io::error_of([&] { background.wait(); }), "the disk is full");
  EXPECT_FALSE(other);
}

TEST(Background, EndsWithoutTheJobsThatHaveNotBegun) {
  std::atomic<bool> begun = false, other = false;
  {
    Background background(true);
    background.add([&] {
      begun = true;
      while (!background.cancelled()) std::this_thread::yield();
    });
    background.add([&] { other = true; });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace cladtorch::train
