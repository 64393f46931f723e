#include "cladtorch/train/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

using testing::HasSubstr;

StepRecord record(int64_t step) {
  StepRecord r{.step = step, .loss = 1.0 / 3.0 + static_cast<double>(step), .lr = 0.1, .grad_norm = 0.7};
  r.tokens = 128 * step;
  r.seconds = 0.1 * static_cast<double>(step);
  if (step % 2 == 0) r.val_loss = 2.0 / 3.0;
  return r;
}

TEST(RunLog, IsReadBackBitForBitByARunThatResumes) {
  io::TemporaryFolder folder;
  {
    RunLog log(folder / "log.jsonl", 0);
    for (int step = 1; step <= 4; ++step) log.write(record(step));
  }
  RunLog(folder / "log.jsonl", 4);
  const std::vector<StepRecord> records = read_run_log(folder / "log.jsonl");
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[2].loss, record(3).loss);
  EXPECT_EQ(records[2].tokens, record(3).tokens);
  EXPECT_EQ(records[2].seconds, record(3).seconds);
  EXPECT_FALSE(records[2].val_loss.has_value());
  EXPECT_EQ(records[3].val_loss, record(4).val_loss);
}

TEST(RunLog, DropsWhatCameAfterTheCheckpointAndALineCutOffByAKill) {
  io::TemporaryFolder folder;
  {
    RunLog log(folder / "log.jsonl", 0);
    for (int step = 1; step <= 4; ++step) log.write(record(step));
  }
  const std::string whole = io::read_file(folder / "log.jsonl");
  io::write_file(folder / "log.jsonl", whole + "{\"step\": 5, \"lo");
  EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 4u);
  RunLog(folder / "log.jsonl", 9);
  EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 4u);
  {
    RunLog log(folder / "log.jsonl", 2);
    EXPECT_EQ(read_run_log(folder / "log.jsonl").size(), 2u);
    for (int step = 3; step <= 4; ++step) log.write(record(step));
  }
  EXPECT_EQ(io::read_file(folder / "log.jsonl"), whole);
}

TEST(RunLog, StartsEmptyForANewRun) {
  io::TemporaryFolder folder;
  {
    RunLog(folder / "log.jsonl", 0).write(record(1));
  }
  RunLog(folder / "log.jsonl", 0);
  EXPECT_EQ(io::read_file(folder / "log.jsonl"), "");
}

TEST(ReadRunLog, NamesTheLineThatIsWrong) {
  io::TemporaryFolder folder;
  {
    RunLog log(folder / "log.jsonl", 0);
    for (int step = 1; step <= 3; ++step) log.write(record(step));
  }
  const std::string whole = io::read_file(folder / "log.jsonl");
  const auto error_with = [&](const std::string& more) {
    io::write_file(folder / "log.jsonl", whole + more);
    return io::error_of([&] { read_run_log(folder / "log.jsonl"); });
  };
  EXPECT_EQ(error_with(""), "");
  EXPECT_THAT(error_with("{\"step\": 4, \"lo\n"), HasSubstr("log.jsonl:4': this line is not a JSON object"));
  EXPECT_THAT(error_with("[]\n"), HasSubstr("log.jsonl:4'"));
  EXPECT_THAT(error_with("{\"step\": 4}\n"), HasSubstr("log.jsonl:4': key 'loss' is missing"));
  EXPECT_THAT(error_with(whole), HasSubstr("log.jsonl:4': step 1 does not come after step 3"));
  EXPECT_THAT(error_with("{\"step\": 1e999}\n"), HasSubstr("log.jsonl:4'"));
  EXPECT_THAT(io::error_of([&] { read_run_log(folder / "none"); }), HasSubstr("none"));
}

}  // namespace
}  // namespace cladtorch::train
