#include "cladtorch/train/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/config.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

using io::error_of;
using testing::HasSubstr;

RunFacts some_facts() {
  return {.version = "1.2.3",
          .model = "gpt2 (1 layer)",
          .hardware = "a processor, 2 threads",
          .memory = "parameters 1 MB",
          .scaling = {{"ranks", "memory"}, {"2", "3 MB"}},
          .parameters = 1234,
          .vocab_size = 65,
          .tokenizer = "char",
          .flops_per_token = 1e6,
          .peak_flops = 1e11,
          .floor = 0.5,
          .bytes_per_token = 1.25,
          .samples = {{"The ", "fox \xff"}}};
}

class RunRecordTest : public testing::Test {
 protected:
  RunRecordTest() {
    TrainConfig config;
    config.train.steps = 9;
    folder_.write("run/config.toml", config_toml(config));
    write_run_facts(folder_ / "run/run.json", some_facts());
    RunLog log(folder_ / "run/log.jsonl", 0);
    for (int64_t step = 1; step <= 4; ++step) {
      StepRecord record{.step = step, .loss = 3.0, .tokens = 100 * step, .seconds = 2.0};
      if (step > 1) record.val_loss = step == 3 ? 1.0 : 2.0;
      log.write(record);
    }
  }
  RunRecord read() const { return read_run(folder_ / "run"); }
  void append(const std::string& text) const {
    io::write_file(folder_ / "run/log.jsonl", folder_.read("run/log.jsonl") + text);
  }

  io::TemporaryFolder folder_;
};

TEST_F(RunRecordTest, ARunIsReadWhileItGoesOn) {
  append("{\"step\": 5, \"lo");  // being written, or cut off by a kill
  const RunRecord run = read();
  EXPECT_EQ(run.name, "run");
  EXPECT_EQ(read_run(folder_.path() / "run" / "").name, "run");
  EXPECT_EQ(run.records.size(), 4u);
  EXPECT_EQ(run.records[3].tokens, 400);
  EXPECT_EQ(run.steps, 9);
  EXPECT_EQ(run.warning, "");
  EXPECT_EQ(run.best()->step, 3);
  EXPECT_EQ(run.last_evaluated()->step, 4);
  EXPECT_EQ(run.config["train"]["steps"], 9);
  EXPECT_EQ(run.facts.parameters, 1234);
  EXPECT_EQ(run.facts.floor, 0.5);
  EXPECT_EQ(run.facts.bytes_per_token, 1.25);
  EXPECT_EQ(run.facts.scaling, some_facts().scaling);
  ASSERT_EQ(run.facts.samples.size(), 1u);
  EXPECT_EQ(run.facts.samples[0].text, "fox \ufffd");
}

TEST_F(RunRecordTest, ARunWithoutAStepHasNoEvaluations) {
  folder_.write("run/log.jsonl", "");
  EXPECT_TRUE(read().records.empty());
  EXPECT_EQ(read().best(), nullptr);
  EXPECT_EQ(read().last_evaluated(), nullptr);
}

TEST_F(RunRecordTest, MissingStepsAreSaid) {
  append("{\"step\":8,\"loss\":1,\"lr\":1,\"grad_norm\":1,\"tokens_per_second\":1}\n");
  EXPECT_THAT(read().warning, HasSubstr("log.jsonl' lacks steps 5 to 7"));
}

TEST_F(RunRecordTest, WhatIsMissingOrDamagedIsNamed) {
  append("nonsense\n");
  EXPECT_THAT(error_of([&] { read(); }), HasSubstr("log.jsonl:5': this line is not a JSON object"));
  const std::string facts = folder_.read("run/run.json");
  folder_.write("run/run.json", facts.substr(0, facts.size() / 2));
  EXPECT_THAT(error_of([&] { read(); }), HasSubstr("run.json': not JSON"));
  folder_.write("run/run.json", "{\"version\": 3}");
  EXPECT_THAT(error_of([&] { read(); }), HasSubstr("run.json': key 'version' is 3, expected a string"));
  folder_.write("run/run.json", facts);
  folder_.write("run/last/trainer_state.json", "{}");
  EXPECT_THAT(error_of([&] { read(); }), HasSubstr("log.jsonl:5'"));
  folder_.write("run/log.jsonl", "");
  EXPECT_THAT(error_of([&] { read(); }), HasSubstr("trainer_state.json': key 'step' is missing"));
  std::filesystem::remove(folder_ / "run/run.json");
  EXPECT_THAT(error_of([&] { read(); }),
              HasSubstr("there is no run.json in it; expected the folder of a run"));
  EXPECT_THAT(error_of([&] { read_run(folder_ / "other"); }), HasSubstr("there is no such folder"));
}

}  // namespace
}  // namespace cladtorch::train
