// Processes that are killed at random moments. The moments are drawn from a fixed seed; where in the program
// they fall depends on the machine, and each test holds wherever that is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::HasSubstr;

using Clock = std::chrono::steady_clock;

/// Step, loss, rate and norm of every line of a log, without what a clock told.
std::vector<std::string> losses_of(const fs::path& run) {
  std::vector<std::string> losses;
  std::istringstream lines(content(run / "log.jsonl"));
  for (std::string line; std::getline(lines, line);)
    losses.push_back(line.substr(0, line.find("\"tokens\"")));
  return losses;
}

class KillTest : public ProgramTestBase {
 protected:
  /// Starts the program and kills it within `longest` microseconds, if it has not ended before.
  void kill_within(const std::vector<std::string>& arguments, int64_t longest) {
    Program program(arguments, {.folder = folder_.path()});
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, longest)(random_)));
    program.send(SIGKILL);
    program.wait();
  }

  /// Runs it to its end and returns how many microseconds that took.
  int64_t duration_of(const std::vector<std::string>& arguments) {
    const auto start = Clock::now();
    const Outcome outcome = run(arguments, {.folder = folder_.path()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  }

  void expect_complete_checkpoints(const std::vector<std::string>& begin,
                                   const char* weights = "model.safetensors");

  std::mt19937_64 random_{20};
};

/// `begin` trains 20 steps in the folder "run" and saves after each; `weights` is the file of the weights in
/// a checkpoint.
void KillTest::expect_complete_checkpoints(const std::vector<std::string>& begin, const char* weights) {
  const int64_t whole = duration_of(begin);
  fs::rename(folder_ / "run", folder_ / "straight");
  bool begun = false;
  for (int kills = 0; kills < 15; ++kills) {
    // A run killed before its first checkpoint left nothing to resume from, and its folder is taken.
    if (!begun) fs::remove_all(folder_ / "run");
    kill_within(begun ? std::vector<std::string>{"train", "--resume", "run"} : begin, whole);
    begun = begun || fs::exists(folder_ / "run" / "last");
    if (!begun) continue;
    const Outcome info = run({"info", "run/last"}, {.folder = folder_.path()});
    ASSERT_EQ(info.code, 0) << info.err;
  }
  ASSERT_TRUE(begun);
  const Outcome last = run({"train", "--resume", "run"}, {.folder = folder_.path()});
  if (last.code != 0) {
    EXPECT_THAT(last.err, HasSubstr("has done its 20 steps"));
  }
  EXPECT_EQ(losses_of(folder_ / "run"), losses_of(folder_ / "straight"));
  for (const fs::path& file :
       {fs::path("last") / weights, fs::path("last/optimizer.safetensors"), fs::path("best") / weights}) {
    ASSERT_TRUE(fs::exists(folder_ / "straight" / file)) << file;
    EXPECT_EQ(content(folder_ / "run" / file), content(folder_ / "straight" / file)) << file;
  }
}

TEST_F(KillTest, ARunResumesFromACompleteCheckpointWheneverItWasKilled) {
  expect_complete_checkpoints(small_train({"--set", "train.steps=20", "--set", "train.save_every=1"}));
}

/// finetune of `model` for 20 steps, then `more`.
std::vector<std::string> small_finetune(const char* model, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"finetune", "--from",
                                        std::string(CLADTORCH_HELLASWAG_FOLDERS "/") + model, "--lr", "1e-3"};
  const std::vector<std::string> run = small_run();
  arguments.insert(arguments.end(), run.begin(), run.end());
  arguments.insert(arguments.end(),
                   {"--text", CLADTORCH_HF_REFERENCES "/../../README.md", "--set", "train.steps=20", "--set",
                    "train.save_every=1", "--set", "train.patience=0"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(KillTest, AFinetuningResumesFromACompleteCheckpointWheneverItWasKilled) {
  expect_complete_checkpoints(small_finetune("gpt2"));
}

TEST_F(KillTest, AnAdapterResumesFromACompleteCheckpointWheneverItWasKilled) {
  const std::string model = content(CLADTORCH_HELLASWAG_FOLDERS "/llama/model.safetensors");
  expect_complete_checkpoints(
      small_finetune("llama", {"--lora-rank", "3", "--lora-dropout", "0.1", "--lora-targets", "all-linear"}),
      "adapter_model.safetensors");
  EXPECT_EQ(content(CLADTORCH_HELLASWAG_FOLDERS "/llama/model.safetensors"), model);
}

TEST_F(KillTest, AnExportIsCompleteOrAbsent) {
  duration_of(small_train({"--set", "model.channels=64", "--set", "model.layers=4"}));
  const std::vector<std::string> exporting = {"export",   "--from", "run",        "--out", "out",
                                              "--format", "hf",     "--shard-gb", "0.0001"};
  const int64_t whole = duration_of(exporting);
  fs::rename(folder_ / "out", folder_ / "straight");
  for (int kills = 0; kills < 15; ++kills) {
    kill_within(exporting, whole);
    if (!fs::exists(folder_ / "out")) continue;
    for (const auto& entry : fs::directory_iterator(folder_ / "straight")) {
      const std::string name = entry.path().filename().string();
      ASSERT_EQ(content(folder_ / "out" / name), content(entry.path())) << name;
    }
    fs::remove_all(folder_ / "out");
  }
  duration_of(exporting);
  size_t leftovers = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    leftovers += entry.path().filename().string().starts_with("out.tmp-");
  }
  EXPECT_EQ(leftovers, 0u);
}

/// Also when it comes in the middle of a file.
TEST_F(KillTest, AnInterruptedExportLeavesNothing) {
  duration_of(small_train({"--set", "model.channels=64", "--set", "model.layers=4"}));
  for (const char* format : {"hf", "gguf", "llmc"}) {
    const std::vector<std::string> exporting = {"export",   "--from", "run",        "--out", "out",
                                                "--format", format,   "--shard-gb", "0.0001"};
    const int64_t whole = duration_of(exporting);
    for (int round = 0; round < 10; ++round) {
      fs::remove_all(folder_ / "out");
      Program program(exporting, {.folder = folder_.path()});
      std::this_thread::sleep_for(
          std::chrono::microseconds(std::uniform_int_distribution<int64_t>(0, whole)(random_)));
      program.send(round % 2 == 0 ? SIGINT : SIGTERM);
      const Outcome outcome = program.wait();
      EXPECT_THAT(outcome.code, testing::AnyOf(0, 128 + SIGINT, 128 + SIGTERM)) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      for (const auto& entry : fs::directory_iterator(folder_.path()))
        EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("run", "out"));
    }
    fs::remove_all(folder_ / "out");
  }
}

}  // namespace
}  // namespace cladtorch::integration
