#include "train/run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() : before_(fs::current_path()) { fs::current_path(folder_.path()); }
  ~RunFolderTest() override { fs::current_path(before_); }

  static TrainConfig config(const std::string& out = "") {
    TrainConfig config;
    config.run.name = "fox";
    config.run.out = out;
    return config;
  }

  io::TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(RunFolderTest, RunsThatBeginAtTheSameTimeGetDifferentFolders) {
  RunFolder first = RunFolder::for_new_run(config()), second = RunFolder::for_new_run(config());
  first.claim();
  second.claim();
  EXPECT_EQ(first.path(), "runs/fox");
  EXPECT_EQ(second.path(), "runs/fox-2");
}

TEST_F(RunFolderTest, OnlyOneOfTwoRunsGetsANamedFolder) {
  RunFolder first = RunFolder::for_new_run(config("a")), second = RunFolder::for_new_run(config("a"));
  EXPECT_FALSE(fs::exists("a"));
  first.claim();
  EXPECT_THAT(error_of([&] { second.claim(); }), HasSubstr("'a' is in use by another training process"));
  EXPECT_THAT(error_of([] { RunFolder::for_new_run(config("a")); }), HasSubstr("in use"));
  EXPECT_THAT(error_of([] { RunFolder::of_run("a"); }), HasSubstr("in use"));
}

TEST_F(RunFolderTest, NothingThatARunWouldOverwriteMayBeThere) {
  folder_.write("begun/log.jsonl", "");
  EXPECT_THAT(error_of([] { RunFolder::for_new_run(config("begun")); }),
              HasSubstr("'begun' holds a log.jsonl but no checkpoint"));
  EXPECT_THAT(error_of([] { RunFolder::of_run("begun"); }), HasSubstr("start it again"));
  folder_.write("saved/last/model.safetensors", "");
  EXPECT_THAT(error_of([] { RunFolder::for_new_run(config("saved")); }),
              HasSubstr("continue it with --resume saved"));
  folder_.write("other/notes.txt", "");
  RunFolder::for_new_run(config("other")).claim();
}

TEST_F(RunFolderTest, ContinuingRemovesWhatAKillLeft) {
  folder_.write("run/last.old/x", "");
  folder_.write("run/best.tmp-5/x", "");
  folder_.write("run/config.toml.tmp-5", "");
  RunFolder::of_run("run");
  EXPECT_TRUE(fs::exists("run/last/x"));
  EXPECT_EQ(std::distance(fs::directory_iterator("run"), {}), 1);
}

}  // namespace
}  // namespace cladtorch::train
