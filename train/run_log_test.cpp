#include "cladtorch/train/run_log.h"

#include <gtest/gtest.h>

#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

StepRecord record(int64_t step) {
  StepRecord r{.step = step, .loss = 1.0 / 3.0 + static_cast<double>(step), .lr = 0.1, .grad_norm = 0.7};
  if (step % 2 == 0) r.val_loss = 2.0 / 3.0;
  return r;
}

TEST(RunLog, IsReadBackBitForBitByARunThatResumes) {
  io::TemporaryFolder folder;
  {
    RunLog log(folder / "log.jsonl", 0);
    for (int step = 1; step <= 4; ++step) log.write(record(step));
  }
  const RunLog resumed(folder / "log.jsonl", 4);
  ASSERT_EQ(resumed.records().size(), 4u);
  EXPECT_EQ(resumed.records()[2].loss, record(3).loss);
  EXPECT_FALSE(resumed.records()[2].val_loss.has_value());
  EXPECT_EQ(resumed.records()[3].val_loss, record(4).val_loss);
}

TEST(RunLog, DropsWhatCameAfterTheCheckpointAndALineCutOffByAKill) {
  io::TemporaryFolder folder;
  {
    RunLog log(folder / "log.jsonl", 0);
    for (int step = 1; step <= 4; ++step) log.write(record(step));
  }
  const std::string whole = io::read_file(folder / "log.jsonl");
  io::write_file(folder / "log.jsonl", whole + "{\"step\": 5, \"lo");
  EXPECT_EQ(RunLog(folder / "log.jsonl", 9).records().size(), 4u);
  {
    RunLog log(folder / "log.jsonl", 2);
    EXPECT_EQ(log.records().size(), 2u);
    for (int step = 3; step <= 4; ++step) log.write(record(step));
  }
  EXPECT_EQ(io::read_file(folder / "log.jsonl"), whole);
}

TEST(RunLog, StartsEmptyForANewRun) {
  io::TemporaryFolder folder;
  {
    RunLog(folder / "log.jsonl", 0).write(record(1));
  }
  EXPECT_TRUE(RunLog(folder / "log.jsonl", 0).records().empty());
  EXPECT_EQ(io::read_file(folder / "log.jsonl"), "");
}

}  // namespace
}  // namespace cladtorch::train
