// What a user does with the program, from start to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The log without the speeds, which no two runs share.
std::vector<nlohmann::json> log_of(const fs::path& run) {
  std::vector<nlohmann::json> records;
  std::istringstream lines(content(run / "log.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    records.push_back(nlohmann::json::parse(line));
    records.back().erase("tokens_per_second");
    records.back().erase("seconds");
  }
  return records;
}

class ProgramTest : public ProgramTestBase {
 protected:
  /// That two runs had the same losses and ended with the same checkpoints.
  void expect_equal_runs(const std::string& a, const std::string& b) {
    EXPECT_EQ(log_of(folder_ / a), log_of(folder_ / b));
    for (const char* file :
         {"last/model.safetensors", "last/optimizer.safetensors", "best/model.safetensors"}) {
      EXPECT_EQ(content(folder_ / a / file), content(folder_ / b / file)) << file;
    }
  }
};

/// `arguments` and then `more`.
std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// A run whose learning rate does not depend on its length: one that is too long to end before it is stopped
/// can be compared with a short one.
std::vector<std::string> steady_run(const std::string& steps, const std::vector<std::string>& more = {}) {
  return with(
      small_train({"--set", "schedule.kind=constant", "--set", "train.eval_every=10", "--steps", steps}),
      more);
}
const std::string endless = "100000000";

TEST_F(ProgramTest, TheVersionComesWithWhatTheProgramWasBuiltWith) {
  ::setenv("CLADTORCH_SIMD", "portable", 1);
  const std::string out = succeed({"--version"});
  ::unsetenv("CLADTORCH_SIMD");
  EXPECT_THAT(out, StartsWith("cladtorch " CLADTORCH_VERSION "\ncompiler: clang "));
  EXPECT_THAT(out, testing::ContainsRegex("\nplugin: clad for Clang [0-9]+\nSIMD: portable\nCUDA: (no|yes)"));
}

/// The words of a command line as a shell splits it, up to a redirection.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line.substr(0, line.find(" > ")));
  for (std::string word; in >> std::quoted(word);) words.push_back(word);
  return words;
}

/// The lines of `text` from `heading` to the next empty line.
std::vector<std::string> section(const std::string& text, const std::string& heading) {
  std::vector<std::string> lines;
  const size_t begin = text.find("\n" + heading + "\n");
  if (begin == std::string::npos) return lines;
  std::istringstream in(text.substr(begin + heading.size() + 2));
  for (std::string line; std::getline(in, line) && !line.empty();) lines.push_back(line);
  return lines;
}

/// `command` and all commands below it, by the lists that --help prints.
void visit_commands(const std::vector<std::string>& command, const std::string& help,
                    const std::function<std::string(const std::vector<std::string>&)>& help_of,
                    const std::function<void(const std::vector<std::string>&, const std::string&)>& visit) {
  visit(command, help);
  for (const std::string& line : section(help, "Subcommands:")) {
    std::vector<std::string> below = command;
    std::istringstream(line) >> below.emplace_back();
    if (line.starts_with("  ") && line[2] != ' ') visit_commands(below, help_of(below), help_of, visit);
  }
}

TEST_F(ProgramTest, TheHelpOfEveryCommandEndsWithExamplesThatItTakes) {
  const auto help_of = [&](std::vector<std::string> command) {
    command.push_back("--help");
    return succeed(command);
  };
  int commands = 0;
  visit_commands(
      {}, help_of({}), help_of, [&](const std::vector<std::string>& command, const std::string& help) {
        ++commands;
        const std::vector<std::string> examples = section(help, "Examples:");
        ASSERT_THAT(examples.size(), AllOf(testing::Ge(1u), testing::Le(3u))) << help;
        EXPECT_TRUE(help.find(examples.back()) + examples.back().size() + 1 >= help.size() - 1) << help;
        for (const std::string& example : examples) {
          std::vector<std::string> words = shell_words(example);
          ASSERT_EQ(words[0], "cladtorch");
          words.erase(words.begin());
          ASSERT_GE(words.size(), command.size()) << example;
          EXPECT_TRUE(std::equal(command.begin(), command.end(), words.begin())) << example;
          // All of the line is parsed, and nothing is run, if the last word is what is wrong.
          words.emplace_back("--zzzzzzzz");
          expect_error(words, usage_error_code, "unknown option '--zzzzzzzz'");
        }
      });
  EXPECT_GT(commands, 20);
}

TEST_F(ProgramTest, CommandsThatTrainHaveTheSameShortNamesOfKeys) {
  const std::vector<std::string> names = {"--lr", "3e-3",    "--batch", "3",          "--context",
                                          "16",   "--steps", "4",       "--patience", "2"};
  const auto expect_taken = [&](const std::string& run) {
    for (const char* line :
         {"\nlr = 0.003 ", "\nbatch = 3 ", "\ncontext = 16 ", "\nsteps = 4 ", "\npatience = 2 "})
      EXPECT_THAT(content(folder_ / run / "config.toml"), HasSubstr(line));
  };
  succeed(small_train(names));
  expect_taken("run");
  folder_.write("t.txt", succeed({"data", "stories", "--bytes", "20000"}));
  succeed(with({"finetune", "--from", "run", "--text", "t.txt", "--out", "fine", "--set", "sample.count=0"},
               names));
  expect_taken("fine");
  const auto json = nlohmann::json::parse(
      succeed({"bench", "--model", "toy", "--batch", "1", "--context", "8", "--steps", "2", "--json"}));
  EXPECT_GT(json["step_ms"].get<double>(), 0);
}

TEST_F(ProgramTest, PlanPredictsMemoryAndSpeed) {
  const std::vector<std::string> plan = {"plan", "--ranks", "8", "--device", "h100", "--tokens", "1B"};
  const auto json = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plan.begin(), plan.end());
    more.emplace_back("--json");
    return nlohmann::json::parse(succeed(more));
  };
  const auto xl = json({"--model", "gpt2-xl", "--set", "optimizer.kind=sgd", "--batch", "2"});
  EXPECT_EQ(xl["batch"], 2);
  EXPECT_EQ(xl["dtype"], "bf16");
  EXPECT_NEAR(xl["stages"][0]["memory"]["optimizer"].get<double>(), 4 * 1557.6e6, 1e6);
  EXPECT_LT(xl["stages"][2]["memory"]["total"], xl["stages"][1]["memory"]["total"]);
  ASSERT_EQ(xl["scaling"].size(), 4u);
  EXPECT_EQ(xl["scaling"][3]["stages"], xl["stages"]);
  EXPECT_EQ(xl["scaling"][0]["stages"][1]["efficiency"], 1);
  // A model of one's own, from the configuration or from a folder.
  succeed(small_train());
  const auto folder = json({"--model", "run"});
  EXPECT_GT(folder["stages"][1]["tokens_per_second"].get<double>(), 0);
  const auto config = json({"--config", "run/config.toml", "--leaves", "0", "--set", "train.accumulate=8",
                            "--dtype", "bf16", "--set", "train.batch=8"});
  EXPECT_EQ(config["model"], folder["model"]);
  EXPECT_EQ(config["stages"], folder["stages"]);
}

TEST_F(ProgramTest, ManualPagesAreThoseOfAllCommands) {
  EXPECT_EQ(succeed({"man", "--out", "pages"}), "");
  EXPECT_THAT(content(folder_ / "pages" / "cladtorch.1"), HasSubstr("\\fBcladtorch\\-train\\fR(1)"));
  const std::string page = content(folder_ / "pages" / "cladtorch-data-prepare.1");
  EXPECT_THAT(page, AllOf(HasSubstr("\n.SH NAME\n"), HasSubstr("\\fB\\-\\-shard\\-tokens\\fR \\fIN\\fR"),
                          HasSubstr("(default: 100000000)"), HasSubstr("\n.SH EXAMPLES\n")));
  EXPECT_EQ(succeed({"man", "data", "prepare"}), page);
  EXPECT_THAT(succeed({"man", "finetune"}),
              AllOf(HasSubstr("\\fBoptimizer.lr\\fR"), HasSubstr("(default: 5e\\-05)")));
}

TEST_F(ProgramTest, TrainingLeavesAllThatItPromises) {
  const std::string out = succeed(small_train());
  EXPECT_THAT(out, AllOf(HasSubstr("gpt2 (1 layers, 2 heads, 16 channels"), HasSubstr("memory  parameters"),
                         HasSubstr("entropy"), HasSubstr("step 6/6"), HasSubstr("best val"),
                         HasSubstr("above the floor"), HasSubstr("sample:")));
  EXPECT_THAT(out, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\x1b"))));
  for (const char* file : {"config.toml", "run.json", "log.jsonl", "report.html", "last/model.safetensors",
                           "last/config.json", "last/optimizer.safetensors", "last/trainer_state.json",
                           "last/tokenizer.json", "best/model.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder_ / "run" / file)) << file;
  }
  EXPECT_EQ(log_of(folder_ / "run").size(), 6u);
  EXPECT_THAT(content(folder_ / "run" / "report.html"),
              AllOf(HasSubstr("<!doctype html>"), HasSubstr("\"validation\":[[3,192,")));
}

TEST_F(ProgramTest, AVocabularyIsLearnedTrainedOnAndKept) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "The lower boat is slower than the low boat, na\xc3\xafve fox " + std::to_string(i) + ".\n";
  folder_.write("t.txt", text);
  EXPECT_THAT(succeed({"tokenizer", "train", "--text", "t.txt", "--vocab-size", "300", "--out", "t.json"}),
              HasSubstr("t.json: 300 tokens\n"));
  const std::string numbers = succeed({"tokenizer", "encode", "--tokenizer", "t.json", "--text", "t.txt"});
  EXPECT_LT(std::count(numbers.begin(), numbers.end(), ' '), static_cast<ptrdiff_t>(text.size() / 2));
  std::vector<std::string> decode = {"tokenizer", "decode", "--tokenizer", "t.json"};
  std::istringstream words(numbers);
  for (std::string word; words >> word && decode.size() < 200;) decode.push_back(word);
  EXPECT_THAT(text, StartsWith(succeed(decode)));
  EXPECT_THAT(succeed({"tokenizer", "show", "--tokenizer", "t.json"}),
              HasSubstr("end of text  <|endoftext|> (0)"));

  EXPECT_THAT(succeed(small_train({"--text", "t.txt", "--tokenizer", "t.json"})),
              HasSubstr("tokens of 300 kinds"));
  fs::remove(folder_ / "t.json");
  EXPECT_THAT(succeed({"generate", "--from", "run", "--prompt", "The low boat", "--tokens", "5"}),
              StartsWith("The low boat"));
}

TEST_F(ProgramTest, AVocabularyHasThePatternAndTheSpecialTokensOfItsTraining) {
  folder_.write("t.txt", "In 1999 and 2000, and 12345 more.");
  succeed({"tokenizer", "train", "--text", "t.txt", "--vocab-size", "300", "--out", "t.json", "--pattern",
           "gpt4", "--special-tokens", "<a>", "<|endoftext|>"});
  EXPECT_THAT(folder_.read("t.json"), HasSubstr(R"(\\p{N}{1,3})"));
  EXPECT_EQ(succeed({"tokenizer", "encode", "--tokenizer", "t.json", "<|endoftext|><a>"}), "1 0\n");
  const std::vector<std::string> llama = {"tokenizer", "encode", "--tokenizer",
                                          CLADTORCH_HELLASWAG_FOLDERS "/llama", "a"};
  std::vector<std::string> around = llama;
  around.insert(around.begin() + 2, "--add-special-tokens");
  EXPECT_EQ(succeed(around), "0 " + succeed(llama)) << "its first token begins a text";
}

TEST_F(ProgramTest, ADefaultFolderIsNeverUsedTwice) {
  std::vector<std::string> arguments = small_train();
  arguments.erase(arguments.begin() + 1, arguments.begin() + 3);  // no --out
  succeed(arguments);
  succeed(arguments);
  EXPECT_TRUE(fs::exists(folder_ / "runs" / "stories" / "best"));
  EXPECT_TRUE(fs::exists(folder_ / "runs" / "stories-2" / "best"));
  EXPECT_EQ(log_of(folder_ / "runs" / "stories"), log_of(folder_ / "runs" / "stories-2"));
}

TEST_F(ProgramTest, AKilledRunResumesBitForBit) {
  for (const char* dtype : {"fp32", "bf16"}) {
    {
      Program killed(steady_run(endless, {"--dtype", dtype}), {.folder = folder_.path()});
      wait_for_log(killed, 13);
      killed.send(SIGKILL);
      ASSERT_EQ(killed.wait().code, 128 + SIGKILL);
    }
    const auto state = nlohmann::json::parse(content(folder_ / "run/last/trainer_state.json"));
    const auto saved = state["step"].get<int64_t>();
    EXPECT_EQ(saved % 10, 0);
    const std::string end = std::to_string(saved + 13);
    EXPECT_THAT(succeed({"train", "--resume", "run", "--steps", end}),
                HasSubstr("resume  run at step " + std::to_string(saved) + " of " + end));
    fs::rename(folder_ / "run", folder_ / "resumed");
    succeed(steady_run(end, {"--dtype", dtype}));
    expect_equal_runs("run", "resumed");
    fs::remove_all(folder_ / "run");
    fs::remove_all(folder_ / "resumed");
  }
}

TEST_F(ProgramTest, Bfloat16TrainsLikeFloat32) {
  const std::vector<std::string> longer = {"--set", "train.steps=200",      "--set", "train.eval_every=100",
                                           "--set", "train.eval_batches=8", "--set", "train.log_every=200",
                                           "--set", "train.batch=8"};
  std::vector<nlohmann::json> logs[2];
  for (const char* dtype : {"fp32", "bf16"}) {
    const std::string out = succeed(small_train(with(longer, {"--dtype", dtype})));
    EXPECT_THAT(out, HasSubstr(std::string(", ") + dtype + "\n"));
    EXPECT_EQ(out.find("masters") != std::string::npos, std::string(dtype) == "bf16");
    fs::rename(folder_ / "run", folder_ / dtype);
    logs[std::string(dtype) == "bf16"] = log_of(folder_ / dtype);
  }
  ASSERT_EQ(logs[0].size(), 200u);
  EXPECT_NE(logs[0].back()["loss"], logs[1].back()["loss"]);
  EXPECT_NEAR(logs[1].front()["loss"].get<double>(), logs[0].front()["loss"].get<double>(), 1e-3);
  const double val = logs[0].back()["val_loss"].get<double>();
  EXPECT_LT(val, 0.9 * logs[0].front()["loss"].get<double>());
  EXPECT_NEAR(logs[1].back()["val_loss"].get<double>(), val, 0.01);
}

TEST_F(ProgramTest, FloatAndBfloat16RunsContinueAndReadEachOther) {
  succeed(small_train({"--dtype", "bf16"}));
  const std::string weights = content(folder_ / "run/last/model.safetensors");
  const auto text = [&](const char* dtype) {
    return succeed({"generate", "--from", "run", "--tokens", "20", "--prompt", "The ", "--dtype", dtype});
  };
  EXPECT_THAT(text("fp32"), StartsWith("The "));
  EXPECT_THAT(text("bf16"), StartsWith("The "));
  succeed({"train", "--resume", "run", "--dtype", "fp32", "--set", "train.steps=8"});
  EXPECT_NE(content(folder_ / "run/last/model.safetensors"), weights);
  succeed({"train", "--resume", "run", "--dtype", "bf16", "--set", "train.steps=10"});
  EXPECT_EQ(log_of(folder_ / "run").size(), 10u);
}

TEST_F(ProgramTest, ARunKilledAgainAndAgainWhileItSavesEndsLikeAStraightOne) {
  const std::vector<std::string> saving = {"--set", "train.steps=60", "--set", "train.save_every=1"};
  succeed(small_train(saving));
  fs::rename(folder_ / "run", folder_ / "straight");
  std::vector<std::string> arguments = small_train(saving);
  for (size_t lines = 4; lines < 60; lines += 7) {
    Program killed(arguments, {.folder = folder_.path()});
    wait_for_log(killed, lines);
    ::usleep(static_cast<unsigned>(300 * lines));  // another moment of a step each time
    killed.send(SIGKILL);
    killed.wait();
    ASSERT_TRUE(fs::exists(folder_ / "run" / "last" / "model.safetensors"));
    arguments = {"train", "--resume", "run"};
  }
  const Outcome last = program(arguments);  // the last kill may have come after the end
  if (last.code != 0) {
    EXPECT_THAT(last.err, HasSubstr("has done its 60 steps"));
  }
  expect_equal_runs("run", "straight");
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(ProgramTest, CtrlCFinishesTheStepSavesAndSaysHowToGoOn) {
  // With an evaluation after each step, one is due at the step that Ctrl-C ends.
  for (const char* eval_every : {"10", "1"}) {
    const std::vector<std::string> evaluating = {"--set", "train.eval_every=" + std::string(eval_every)};
    Program interrupted(steady_run(endless, evaluating), {.folder = folder_.path()});
    wait_for_log(interrupted, 4);
    interrupted.send(SIGINT);
    const Outcome outcome = interrupted.wait();
    EXPECT_EQ(outcome.code, interrupted_code);
    EXPECT_EQ(outcome.err, "");
    const size_t done = log_of(folder_ / "run").size();
    EXPECT_THAT(outcome.out, HasSubstr("stopped after step " + std::to_string(done) + " of " + endless +
                                       "; continue with: cladtorch train --resume run"));
    const std::string end = std::to_string(done + 7);
    succeed({"train", "--resume", "run", "--steps", end});
    fs::rename(folder_ / "run", folder_ / "resumed");
    succeed(steady_run(end, evaluating));
    expect_equal_runs("run", "resumed");
    fs::remove_all(folder_ / "run");
    fs::remove_all(folder_ / "resumed");
  }
}

TEST_F(ProgramTest, ExamplesWithPromptsInMicroBatchesAreLearnedAndResumeBitForBit) {
  std::string lines;
  for (int i = 0; i < 600; ++i) {
    const std::string word(static_cast<size_t>(1 + i % 9), static_cast<char>('a' + i % 26));
    lines += nlohmann::json({{"prompt", "say " + word + ": "}, {"completion", word + "!"}}).dump() + "\n";
  }
  folder_.write("examples.jsonl", lines);
  succeed({"data", "prepare", "--text", "examples.jsonl", "--out", "tokens", "--tokenizer", "byte"});
  const std::vector<std::string> prompts = {"--text", "tokens",        "--set",   "data.packing=documents",
                                            "--set",  "train.batch=2", "--set",   "train.accumulate=3",
                                            "--set",  "run.seed=3",    "--dtype", "fp32"};
  {
    Program killed(steady_run(endless, prompts), {.folder = folder_.path()});
    wait_for_log(killed, 33);
    killed.send(SIGKILL);
    ASSERT_EQ(killed.wait().code, 128 + SIGKILL);
  }
  const auto state = nlohmann::json::parse(content(folder_ / "run/last/trainer_state.json"));
  const std::string end = std::to_string(state["step"].get<int64_t>() + 13);
  succeed({"train", "--resume", "run", "--steps", end});
  fs::rename(folder_ / "run", folder_ / "resumed");
  succeed(steady_run(end, prompts));
  expect_equal_runs("run", "resumed");
  const auto log = log_of(folder_ / "run");
  EXPECT_LT(log.back()["val_loss"].get<double>(), 0.7 * log.front()["loss"].get<double>());
}

TEST_F(ProgramTest, TheNumberOfThreadsChangesNoBit) {
  for (const char* dtype : {"fp32", "bf16"}) {
    for (const char* threads : {"1", "3"}) {
      succeed(small_train({"--set", "model.channels=128", "--set", "model.context=64", "--set",
                           "train.batch=8", "--set", "train.steps=20", "--set", "model.dropout=0.1",
                           "--threads", threads, "--dtype", dtype}));
      fs::rename(folder_ / "run", folder_ / (std::string(dtype) + threads));
    }
    const fs::path one = folder_ / (std::string(dtype) + "1"), three = folder_ / (std::string(dtype) + "3");
    EXPECT_EQ(log_of(three), log_of(one));
    EXPECT_EQ(content(three / "last/model.safetensors"), content(one / "last/model.safetensors"));
  }
}

TEST_F(ProgramTest, ATimeLimitShortensTheRunAndItsSchedule) {
  const std::string out =
      succeed(small_train({"--set", "train.steps=1000000", "--set", "train.max_minutes=0.02", "--set",
                           "train.eval_every=1000000"}));
  EXPECT_THAT(out, HasSubstr("shortened to fit train.max_minutes = 0.02"));
  const auto log = log_of(folder_ / "run");
  EXPECT_LT(log.back()["lr"].get<double>(), 3e-4);  // close to the minimum of 1e-4, far from the peak of 2e-3
  EXPECT_TRUE(log.back().contains("val_loss"));
}

TEST_F(ProgramTest, GeneratingIsReproducibleAndBeginsWithThePrompt) {
  succeed(small_train());
  const auto generate = [&](const std::string& seed) {
    return succeed({"generate", "--from", "run", "--prompt", "The ", "--tokens", "40", "--seed", seed});
  };
  EXPECT_THAT(generate("1"), StartsWith("The "));
  EXPECT_EQ(generate("1").size(), std::string("The \n").size() + 40);
  EXPECT_EQ(generate("1"), generate("1"));
  EXPECT_NE(generate("1"), generate("2"));
  EXPECT_EQ(succeed({"generate", "--from", "run/last", "--tokens", "0", "--prompt", "The "}), "The \n");
}

TEST_F(ProgramTest, PreparedTokensTrainLikeTheirText) {
  const std::string text = succeed({"data", "stories", "--bytes", "20000"});
  std::ofstream(folder_ / "my.txt") << text;
  succeed(small_train({"--text", "my.txt"}));
  fs::rename(folder_ / "run", folder_ / "from-text");
  EXPECT_THAT(succeed({"data", "prepare", "--text", "my.txt", "--out", "tokens"}), HasSubstr("to train on"));
  succeed(small_train({"--text", "tokens"}));
  EXPECT_EQ(log_of(folder_ / "run"), log_of(folder_ / "from-text"));
  fs::remove_all(folder_ / "run");
  EXPECT_THAT(succeed({"data", "export", "--text", "tokens", "--out", "llmc", "--shard-tokens", "7000"}),
              HasSubstr("llmc: 18"));
  EXPECT_TRUE(fs::exists(folder_ / "llmc/train_000002.bin"));
  succeed(small_train({"--text", "llmc"}));
  EXPECT_EQ(log_of(folder_ / "run"), log_of(folder_ / "from-text"));
}

TEST_F(ProgramTest, DataAndInfoDescribeWhatIsThere) {
  EXPECT_THAT(succeed({"data", "show", "--bytes", "20000"}), AllOf(HasSubstr("entropy"), HasSubstr("space")));
  EXPECT_THAT(succeed({"info"}), AllOf(HasSubstr("processor"), HasSubstr("GFLOP/s")));
  succeed(small_train());
  EXPECT_THAT(succeed({"info", "run"}),
              AllOf(HasSubstr("1 layers, 2 heads, 16 channels"), HasSubstr("step 6 of 6"),
                    HasSubstr("perplexity"), HasSubstr("bits per byte"), HasSubstr("best val")));
}

TEST_F(ProgramTest, AReportIsMadeAgainAndComparesRuns) {
  succeed(small_train());
  fs::rename(folder_ / "run", folder_ / "first");
  succeed(small_train({"--set", "optimizer.lr=1e-3"}));
  const std::string page = content(folder_ / "run" / "report.html");
  fs::remove(folder_ / "run" / "report.html");
  EXPECT_THAT(succeed({"report", "run"}), AllOf(HasSubstr("6/6"), HasSubstr("best val")));
  EXPECT_EQ(content(folder_ / "run" / "report.html"), page);

  const std::string out = succeed({"report", "first", "run", "--out", "compare.html"});
  EXPECT_THAT(out, AllOf(HasSubstr("optimizer.lr"), HasSubstr("0.001"), HasSubstr("report compare.html")));
  EXPECT_THAT(out, Not(HasSubstr("run.out")));
  EXPECT_THAT(content(folder_ / "compare.html"),
              AllOf(HasSubstr("<h1>2 runs</h1>"), HasSubstr("\"name\":\"first\"")));
}

TEST_F(ProgramTest, ARunThatIsGoingOnCanBeReported) {
  Program going(small_train({"--steps", endless}), {.folder = folder_.path()});
  wait_for_log(going, 5);
  ASSERT_TRUE(going.running());
  EXPECT_THAT(succeed({"report", "run"}), HasSubstr("/" + endless));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "report.html"));
}

/// The names of a run's event files, in order.
std::vector<std::string> event_files(const fs::path& run) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(ProgramTest, EverySessionLeavesOneEventFileForTensorboard) {
  succeed(small_train({"--set", "log.histograms_every=3", "--set", "log.samples=true"}));
  ASSERT_EQ(event_files(folder_ / "run").size(), 1u);
  const std::string first = content(folder_ / "run" / event_files(folder_ / "run")[0]);
  for (const char* tag : {"train/loss", "val/bits_per_byte", "samples/text", "weights/wte.weight",
                          "gradients/h.0.attn.c_attn.weight"}) {
    EXPECT_THAT(first, HasSubstr(tag));
  }
  succeed({"train", "--resume", "run", "--steps", "8"});
  ASSERT_EQ(event_files(folder_ / "run").size(), 2u);
  EXPECT_EQ(content(folder_ / "run" / event_files(folder_ / "run")[0]), first);
  succeed({"train", "--resume", "run", "--steps", "9", "--set", "log.tensorboard=false"});
  EXPECT_EQ(event_files(folder_ / "run").size(), 2u);
}

TEST_F(ProgramTest, TelemetryChangesNoBitOfTheModel) {
  succeed(small_train({"--set", "log.tensorboard=false"}));
  fs::rename(folder_ / "run", folder_ / "silent");
  succeed(small_train({"--set", "log.histograms_every=1", "--set", "log.samples=true"}));
  EXPECT_EQ(log_of(folder_ / "run"), log_of(folder_ / "silent"));
  EXPECT_EQ(content(folder_ / "run/last/model.safetensors"),
            content(folder_ / "silent/last/model.safetensors"));
}

TEST_F(ProgramTest, BenchPrintsOneObjectWithItsKeys) {
  for (const char* dtype : {"fp32", "bf16"}) {
    const std::string out = succeed({"bench", "--model", "toy", "--batch", "2", "--seq", "16", "--threads",
                                     "1", "--iters", "3", "--json", "--dtype", dtype});
    const auto json = nlohmann::ordered_json::parse(out);
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) {
      keys.push_back(key);
      EXPECT_TRUE(value.is_number()) << key;
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"forward_ms", "backward_ms", "forward_backward_ms",
                                              "optimizer_ms", "step_ms", "first_step_ms", "tokens_per_s",
                                              "peak_rss_mb", "arena_mb", "allocations_per_step", "loss"}));
    EXPECT_NEAR(json["loss"].get<double>(), std::log(65.0), 0.2);
    EXPECT_EQ(json["allocations_per_step"], 0) << dtype;
  }
  EXPECT_THAT(succeed({"bench", "--model", "toy", "--batch", "1", "--seq", "8", "--iters", "2"}),
              HasSubstr("forward + backward"));
}

}  // namespace
}  // namespace cladtorch::integration
