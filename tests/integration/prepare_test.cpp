// `cladtorch data prepare` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cladtorch/random.h"
#include "tensor/sanitizers.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class PrepareTest : public ProgramTestBase {
 protected:
  /// `count` documents, the n-th of which begins with `word` and n.
  void write_lines(const std::string& name, int count, const std::string& word) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines +=
          nlohmann::json({{"text", word + " " + std::to_string(i) + std::string(200, 'x')}}).dump() + "\n";
    }
    folder_.write(name, lines);
  }

  std::string show() { return succeed({"data", "show", "--text", "out"}); }
};

TEST_F(PrepareTest, TellsWhatItDoesInPlainLines) {
  write_lines("t.jsonl", 20000, "line");
  EXPECT_THAT(succeed({"data", "prepare", "--text", "t.jsonl", "--out", "out"}),
              AllOf(ContainsRegex("characters +[0-9]+ %"), ContainsRegex("tokens +100 %"),
                    HasSubstr("documents"), HasSubstr("eta"), HasSubstr("; 20000 documents\n"),
                    Not(HasSubstr("\r")), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(show(), AllOf(ContainsRegex("training +[0-9]+ tokens in 1[78][0-9]+ documents"),
                            ContainsRegex("validation +[0-9]+ tokens in [12][0-9]+ documents")));
}

TEST_F(PrepareTest, AKillLeavesTheOldDatasetOrTheNewOne) {
  write_lines("a.jsonl", 200, "old");
  write_lines("b.jsonl", 8000, "new");
  const auto prepare = [](const std::string& text) {
    return std::vector<std::string>{"data",      "prepare", "--text",      text,   "--out",          "out",
                                    "--threads", "1",       "--tokenizer", "byte", "--shard-tokens", "20000"};
  };
  succeed(prepare("b.jsonl"));
  const std::string after = show();
  succeed(prepare("a.jsonl"));
  const std::string before = show();
  Random random(3);
  int killed = 0;
  for (int trial = 0; trial < 25; ++trial) {
    {
      Program running(prepare("b.jsonl"), {.folder = folder_.path()});
      ::usleep(static_cast<useconds_t>(random.below(200'000)));
      running.send(SIGKILL);
      killed += running.wait().code == 128 + SIGKILL ? 1 : 0;
    }
    const std::string now = show();
    EXPECT_TRUE(now == before || now == after) << now;
    if (now == after) succeed(prepare("a.jsonl"));
  }
  EXPECT_GT(killed, 0);
  succeed(prepare("b.jsonl"));
  EXPECT_EQ(show(), after);
  EXPECT_FALSE(fs::exists(folder_ / "out/.preparing"));
}

TEST_F(PrepareTest, AFullDiskLeavesTheOldDataset) {
  if (CLADTORCH_THREAD_SANITIZER) GTEST_SKIP() << "TSan maps a file of its own, which the limit cuts off";
  write_lines("a.jsonl", 20, "old");
  write_lines("b.jsonl", 2000, "new");
  succeed({"data", "prepare", "--text", "a.jsonl", "--out", "out"});
  const std::string before = show();
  const Outcome outcome = run({"data", "prepare", "--text", "b.jsonl", "--out", "out"},
                              {.folder = folder_.path(), .file_size_limit = 100'000});
  EXPECT_EQ(outcome.code, runtime_error_code);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("train-00000.tokens"), HasSubstr("ulimit -f")));
  EXPECT_EQ(show(), before);
  EXPECT_FALSE(fs::exists(folder_ / "out/.preparing"));
}

TEST_F(PrepareTest, CtrlCStopsAndLeavesNothingBehind) {
  write_lines("a.jsonl", 20000, "old");
  Program running({"data", "prepare", "--text", "a.jsonl", "--out", "out", "--threads", "1"},
                  {.folder = folder_.path()});
  while (running.running() && running.output().empty()) ::usleep(200);
  running.send(SIGINT);
  const Outcome outcome = running.wait();
  if (outcome.code == 0) GTEST_SKIP() << "it had ended before the signal came";
  EXPECT_EQ(outcome.code, interrupted_code);
  EXPECT_THAT(outcome.out, HasSubstr("stopped; 'out' is as it was before"));
  EXPECT_FALSE(fs::exists(folder_ / "out/.preparing"));
  EXPECT_FALSE(fs::exists(folder_ / "out/dataset.json"));
}

TEST_F(PrepareTest, WhatIsWrongIsSaidInOneLine) {
  folder_.write("bad.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\n");
  folder_.write("cut.txt.gz", "\x1f\x8b");
  write_lines("t.jsonl", 10, "line");
  const auto prepare = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"data", "prepare", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_error(prepare({"--text", "bad.jsonl"}), runtime_error_code, "bad.jsonl', line 3: this is not JSON");
  expect_error(prepare({"--text", "t.jsonl", "--field", "body"}), runtime_error_code,
               "t.jsonl', line 1: there is no key 'body'");
  expect_error(prepare({"--text", "cut.txt.gz"}), runtime_error_code, "cut.txt.gz'");
  expect_error(prepare({"--text", "none"}), runtime_error_code, "'none' does not exist");
  expect_error(prepare({"--text", "t.jsonl", "--validation", "none"}), runtime_error_code,
               "'none' does not exist");
  expect_error(prepare({"--text", "t.jsonl", "--split", "middle"}), usage_error_code, "got 'middle'");
  expect_error(prepare({"--text", "t.jsonl", "--split", "tail", "--validation", "t.jsonl"}), usage_error_code,
               "give either --split or --validation, not both");
  expect_error(prepare({"--text", "t.jsonl", "--validation-share", "1.5"}), usage_error_code,
               "--validation-share");
  expect_error(prepare({"--text", "t.jsonl", "--shard-tokens", "0"}), usage_error_code, "--shard-tokens");
  expect_error(prepare({"--text", "t.jsonl", "--tokenizer", "words"}), usage_error_code,
               "'words' does not exist");
  expect_error(prepare({"--text", "t.jsonl", "--fields", "x"}), usage_error_code, "did you mean");
  EXPECT_FALSE(fs::exists(folder_ / "out/dataset.json"));
}

TEST_F(PrepareTest, ALineOrAWordWithoutEndTakesAFewTimesItsOwnMemory) {
  if (CLADTORCH_ADDRESS_SANITIZER || CLADTORCH_THREAD_SANITIZER) GTEST_SKIP() << "sanitizers take memory";
  constexpr size_t bytes = 30'000'000;
  const auto write = [&](const char* name, const std::string& begin, const std::string& end) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file << begin;
    const std::string piece(1000, 'a');
    for (size_t at = 0; at < bytes; at += piece.size()) file << piece;
    file << end;
  };
  write("line.jsonl", "{\"text\":\"", "\"}\n");
  write("word.txt", "", "");
  folder_.write("small.txt", std::string(1000, 'a') + " " + std::string(1000, 'a'));
  ASSERT_EQ(
      program({"tokenizer", "train", "--text", "small.txt", "--vocab-size", "260", "--out", "t.json"}).code,
      0);
  // All of the text as numbers of four bytes, the text itself, and a part of it that was read ahead.
  EXPECT_LT(program({"data", "show", "--text", "line.jsonl", "--tokenizer", "byte"}).peak_bytes,
            15 * bytes / 2);
  const Outcome word = program({"tokenizer", "encode", "--tokenizer", "t.json", "--text", "word.txt"});
  EXPECT_EQ(word.code, 0) << word.err;
  EXPECT_LT(word.peak_bytes, 10 * bytes);
}

}  // namespace
}  // namespace cladtorch::integration
