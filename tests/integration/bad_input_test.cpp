// Every mistake gives its exit code and exactly one line that says what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <fstream>

#include "io/temporary_folder.h"
#include "tests/integration/program.h"
#include "tests/integration/small_run.h"

namespace cladtorch::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kRuntimeError = 1;
constexpr int kUsageError = 2;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

class BadInput : public testing::Test {
 protected:
  Outcome program(const std::vector<std::string>& arguments) {
    return run(arguments, {.folder = folder_.path()});
  }

  void expect_one_line(const Outcome& outcome, int code, const std::string& part) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("cladtorch: error: "));
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& part) {
    expect_one_line(program(arguments), code, part);
  }

  /// A finished run in folder "run".
  void train() {
    const Outcome outcome = program(small_train());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  io::TemporaryFolder folder_;
};

TEST_F(BadInput, UnknownWordsOnTheCommandLineGetASuggestion) {
  expect_error({"train", "--txt", "x"}, kUsageError, "unknown option '--txt' (did you mean '--text'?)");
  expect_error({"train", "--treads=4"}, kUsageError, "unknown option '--treads' (did you mean '--threads'?)");
  expect_error({"trian"}, kUsageError, "unknown command 'trian' (did you mean 'train'?)");
  expect_error({"generate", "--from", "x", "--temprature", "1"}, kUsageError,
               "did you mean '--temperature'?");
  expect_error({"generate"}, kUsageError, "--from");
  expect_error({"bench", "--iters", "many"}, kUsageError, "--iters");
}

TEST_F(BadInput, WrongConfigurationNamesTheKey) {
  expect_error(small_train({"--set", "optimizer.learning_rate=1"}), kUsageError, "unknown key");
  expect_error(small_train({"--set", "train.step=5"}), kUsageError, "did you mean 'train.steps'?");
  expect_error(small_train({"--set", "train.steps=many"}), kUsageError, "train.steps expects an integer");
  expect_error(small_train({"--set", "model.heads=3"}), kUsageError, "does not divide model.channels");
  expect_error(small_train({"--device", "tpu"}), kUsageError, "run.device is 'tpu', expected cpu");
  expect_error(small_train({"--dtype", "fp8"}), kUsageError, "run.dtype is 'fp8', expected fp32");
  write(folder_ / "wrong.toml", "[train]\nsteps = 5\nbach = 3\n");
  expect_error(small_train({"--config", "wrong.toml"}), kUsageError,
               "wrong.toml:3: unknown key 'train.bach'");
  write(folder_ / "broken.toml", "[train\n");
  expect_error(small_train({"--config", "broken.toml"}), kUsageError, "broken.toml:1:");
  expect_error(small_train({"--config", "missing.toml"}), kRuntimeError, "'missing.toml'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, TextThatCannotBeTrainedOnIsNamed) {
  expect_error(small_train({"--text", "missing.txt"}), kRuntimeError, "missing.txt");
  write(folder_ / "empty.txt", "");
  expect_error(small_train({"--text", "empty.txt"}), kRuntimeError, "empty.txt");
  write(folder_ / "short.txt", "Too short.");
  expect_error(small_train({"--text", "short.txt"}), kRuntimeError, "33");
  write(folder_ / "binary.txt", std::string(5000, '\xff'));
  expect_error(small_train({"--text", "binary.txt"}), kRuntimeError, "binary.txt");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, AnOutputFolderThatCannotBeWrittenIsNamed) {
  write(folder_ / "file", "");
  expect_error(small_train({"--out", "file/run"}), kRuntimeError, "file/run");
  expect_error(small_train({"--out", "file"}), kRuntimeError, "'file'");
  expect_error(small_train({"--out", "/proc/run"}), kRuntimeError, "/proc/run");
}

TEST_F(BadInput, ARunIsNotOverwritten) {
  train();
  expect_error(small_train(), kRuntimeError, "--resume run");
  expect_error({"train", "--resume", "run"}, kRuntimeError, "has done its 6 steps");
  expect_error({"train", "--resume", "other"}, kRuntimeError, "'other' is not a folder");
  fs::create_directory(folder_ / "empty");
  expect_error({"train", "--resume", "empty"}, kRuntimeError, "'empty' holds no config.toml");
}

TEST_F(BadInput, ADamagedCheckpointIsRefused) {
  train();
  expect_error({"generate", "--from", "missing"}, kRuntimeError, "no such folder");
  fs::create_directory(folder_ / "empty");
  expect_error({"info", "empty"}, kRuntimeError, "no model.safetensors");

  const fs::path model = folder_ / "run" / "best" / "model.safetensors";
  fs::resize_file(model, fs::file_size(model) - 100);
  expect_error({"generate", "--from", "run"}, kRuntimeError, "cut off");
  fs::resize_file(model, 3);
  expect_error({"generate", "--from", "run"}, kRuntimeError, "model.safetensors");
  write(model, "PK\3\4 this is a PyTorch zip archive");
  expect_error({"generate", "--from", "run"}, kRuntimeError, "not a valid safetensors file");
  fs::copy_file(folder_ / "run" / "last" / "optimizer.safetensors", model,
                fs::copy_options::overwrite_existing);
  expect_error({"info", "run"}, kRuntimeError, "is it another model's file?");
}

TEST_F(BadInput, ACheckpointOfAnotherModelOrTextIsRefused) {
  train();
  const std::vector<std::string> longer = {"train", "--resume", "run", "--set", "train.steps=9", "--set"};
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> arguments = longer;
    arguments.push_back(setting);
    return arguments;
  };
  expect_error(with("model.channels=32"), kRuntimeError, "model keys");
  expect_error(with("data.story_bytes=40000"), kRuntimeError, "has the text changed?");
  write(folder_ / "run" / "last" / "config.json", R"({"model_type": "llama"})");
  expect_error(with("train.batch=2"), kRuntimeError, "model_type is 'llama', expected gpt2");
  write(folder_ / "run" / "last" / "trainer_state.json", "{");
  expect_error(with("train.batch=2"), kRuntimeError, "trainer_state.json");
}

TEST_F(BadInput, WrongSamplingOptionsAreNamed) {
  train();
  expect_error({"generate", "--from", "run", "--temperature", "-1"}, kRuntimeError, "temperature");
  expect_error({"generate", "--from", "run", "--top-p", "2"}, kRuntimeError, "top_p");
  expect_error({"generate", "--from", "run", "--tokens", "-5"}, kUsageError, "--tokens");
  expect_error({"generate", "--from", "run", "--prompt", "\xe2\x82\xac"}, kRuntimeError, "\xe2\x82\xac");
}

TEST_F(BadInput, ADivergingRunStopsAndKeepsTheLastGoodCheckpoint) {
  const std::vector<std::string> often = {"--set", "train.eval_every=1"};
  std::vector<std::string> diverging = {"--set", "optimizer.lr=1e30"};
  diverging.insert(diverging.end(), often.begin(), often.end());
  expect_error(small_train(diverging), kRuntimeError, "there is no checkpoint yet");

  ASSERT_EQ(program(small_train({"--out", "good"})).code, 0);
  std::vector<std::string> resume = {"train", "--resume", "good", "--set", "train.steps=20"};
  resume.insert(resume.end(), diverging.begin(), diverging.end());
  expect_error(resume, kRuntimeError, "lower optimizer.lr (now 1e+30)");
  expect_error(resume, kRuntimeError, "the last good checkpoint is 'good/last', of step 6");
}

TEST_F(BadInput, AFullDiskIsNamedAndLeavesTheOldCheckpointWhole) {
  train();
  const Outcome before = program({"generate", "--from", "run", "--temperature", "0"});
  const Outcome outcome = run({"train", "--resume", "run", "--set", "train.steps=9"},
                              {.folder = folder_.path(), .file_size_limit = 16'000});
  expect_one_line(outcome, kRuntimeError, "model.safetensors");
  EXPECT_EQ(program({"generate", "--from", "run", "--temperature", "0"}).out, before.out);
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(BadInput, AFullDiskUnderTheStandardOutputIsNamed) {
  expect_one_line(
      run({"data", "stories", "--bytes", "1000"}, {.folder = folder_.path(), .standard_output = "/dev/full"}),
      kRuntimeError, "cannot write 'standard output': no space left on device");
  expect_error({"data", "stories", "--bytes", "1000", "--out", "/dev/full"}, kRuntimeError,
               "no regular file");
}

TEST_F(BadInput, AFullFileSystemIsNamed) {
  fs::create_directory(folder_ / "small");
  const std::string mount_point = (folder_ / "small").string();
  if (::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "a small file system can only be mounted by root";
  }
  const Outcome outcome = program(small_train({"--out", "small/run"}));
  EXPECT_EQ(::umount(mount_point.c_str()), 0);
  expect_one_line(outcome, kRuntimeError, "no space left on device");
}

}  // namespace
}  // namespace cladtorch::integration
