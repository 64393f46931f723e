// Every mistake gives its exit code and exactly one line that says what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tensor/sanitizers.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

class BadInput : public ProgramTestBase {
 protected:
  /// A finished run in folder "run".
  void train() {
    const Outcome outcome = program(small_train());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_F(BadInput, UnknownWordsOnTheCommandLineGetASuggestion) {
  expect_error({"train", "--txt", "x"}, usage_error_code, "unknown option '--txt' (did you mean '--text'?)");
  expect_error({"train", "--treads=4"}, usage_error_code,
               "unknown option '--treads' (did you mean '--threads'?)");
  expect_error({"trian"}, usage_error_code, "unknown command 'trian' (did you mean 'train'?)");
  expect_error({"generate", "--from", "x", "--temprature", "1"}, usage_error_code,
               "did you mean '--temperature'?");
  expect_error({"train", "--batch_size=4"}, usage_error_code,
               "unknown option '--batch_size' (did you mean '--batch'?)");
  expect_error({"train", "--grad-clip", "1"}, usage_error_code,
               "(did you mean '--set optimizer.clip=VALUE'?)");
  expect_error({"train", "--lora-rank", "1"}, usage_error_code, "(did you mean '--set lora.rank=VALUE'?)");
  expect_error({"info", "--prompt", "x"}, usage_error_code,
               "info: unknown option '--prompt' (an option of generate); see cladtorch info --help");
  expect_error({"prepare"}, usage_error_code, "unknown command 'prepare' (did you mean 'data prepare'?)");
  expect_error({"data", "shwo"}, usage_error_code, "data: unknown command 'shwo' (did you mean 'show'?)");
  expect_error({"info", "a", "b"}, usage_error_code,
               "info: unexpected argument 'b'; see cladtorch info --help");
}

TEST_F(BadInput, WhatIsMissingOnTheCommandLineComesWithAnExample) {
  expect_error({"report"}, usage_error_code,
               "report: RUN is missing (folders of runs, finished or not), for example: cladtorch report "
               "runs/stories; see cladtorch report --help");
  expect_error({"generate"}, usage_error_code,
               "generate: --from FOLDER is missing (folder of a run, a checkpoint, or a Hugging Face model), "
               "for example: cladtorch generate --from runs/stories --prompt \"The fox\"");
  expect_error({"finetune", "--text", "x"}, usage_error_code,
               "finetune: --from FOLDER is missing (folder of the model to begin with");
  expect_error({"export", "--from", "a", "--out", "b"}, usage_error_code,
               "export: --format hf|llmc|gguf is missing");
  expect_error({"completion"}, usage_error_code, "completion: bash|zsh|fish is missing");
  expect_error({"tokenizer"}, usage_error_code,
               "tokenizer: a command is missing: train, encode, decode or show, for example: cladtorch "
               "tokenizer train");
  expect_error({"data", "--"}, usage_error_code,
               "data: a command is missing: show, prepare, export or stories");
  expect_error({"train", "--out"}, usage_error_code,
               "train: --out FOLDER needs a value: folder for checkpoints, log and report");
  expect_error(
      {"tokenizer", "encode", "--tokenizer", "t", "--text", "a", "b"}, usage_error_code,
      "tokenizer encode: give either --text or words, not both; see cladtorch tokenizer encode --help");
}

TEST_F(BadInput, ValuesThatAnOptionDoesNotTakeAreNamed) {
  expect_error({"bench", "--steps", "many"}, usage_error_code,
               "bench: --steps: 'many' is not a whole number of at least 1; see cladtorch bench --help");
  expect_error({"generate", "--from", "x", "--temperature", "hot"}, usage_error_code,
               "generate: --temperature: 'hot' is not a number");
  expect_error({"export", "--from", "a", "--out", "b", "--format", "onnx"}, usage_error_code,
               "export: --format: 'onnx' is not one of gguf, hf, llmc");
  expect_error({"completion", "tcsh"}, usage_error_code, "'tcsh' is not one of bash, fish, zsh");
  expect_error({"bench", "--optimizer", "mun"}, usage_error_code,
               "bench: --optimizer is 'mun', expected adamw, adam, muon, sgd, rmsprop, adagrad, lion, "
               "adamax, nadam or radam (did you mean 'muon'?)");
  expect_error({"bench", "--json=perhaps"}, usage_error_code,
               "bench: --json: it takes no value, got 'perhaps'");
  expect_error({"man", "trian"}, usage_error_code, "there is no command 'trian'");
}

TEST_F(BadInput, WrongConfigurationNamesTheKey) {
  expect_error(small_train({"--set", "optimizer.learning_rate=1"}), usage_error_code,
               "unknown key 'optimizer.learning_rate' (did you mean 'optimizer.lr'?)");
  write(folder_ / "nanogpt.toml", "block_size = 64\n");
  expect_error(small_train({"--config", "nanogpt.toml"}), usage_error_code,
               "nanogpt.toml: unknown key 'block_size' (did you mean 'model.context'?)");
  expect_error(small_train({"--set", "train.step=5"}), usage_error_code, "did you mean 'train.steps'?");
  expect_error(small_train({"--set", "train.steps=many"}), usage_error_code,
               "train.steps expects an integer");
  expect_error(small_train({"--set", "model.heads=3"}), usage_error_code, "does not divide model.channels");
  expect_error(small_train({"--device", "tpu"}), usage_error_code,
               "run.device: unknown device 'tpu'; expected cpu, cuda or cuda:N");
  expect_error(small_train({"--dtype", "fp16"}), usage_error_code,
               "run.dtype is 'fp16', expected fp32, bf16 or fp8");
  write(folder_ / "wrong.toml", "[train]\nsteps = 5\nbach = 3\n");
  expect_error(small_train({"--config", "wrong.toml"}), usage_error_code,
               "wrong.toml:3: unknown key 'train.bach'");
  write(folder_ / "broken.toml", "[train\n");
  expect_error(small_train({"--config", "broken.toml"}), usage_error_code, "broken.toml:1:");
  write(folder_ / "quoted.toml", "\"train.steps\" = 5\n");
  expect_error(small_train({"--config", "quoted.toml"}), usage_error_code, "quoted.toml: 'train.steps'");
  expect_error(small_train({"--set", "train.accumulate=9000000000000000000"}), usage_error_code,
               "train.accumulate is 9000000000000000000, expected 1 to 100000");
  expect_error({"train", "--text", ""}, usage_error_code, "the value of --text is empty");
  expect_error({"data", "stories", "--bytes", "9000000000000000000"}, usage_error_code, "--bytes");
  expect_error(small_train({"--config", "missing.toml"}), runtime_error_code, "'missing.toml'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, TextThatCannotBeTrainedOnIsNamed) {
  expect_error(small_train({"--text", "missing.txt"}), runtime_error_code, "missing.txt");
  write(folder_ / "empty.txt", "");
  expect_error(small_train({"--text", "empty.txt"}), runtime_error_code, "empty.txt");
  write(folder_ / "short.txt", "Too short.");
  expect_error(small_train({"--text", "short.txt"}), runtime_error_code, "33");
  write(folder_ / "binary.txt", std::string(5000, '\xff'));
  expect_error(small_train({"--text", "binary.txt"}), runtime_error_code, "binary.txt");
  const char llmc[] = "\x88\xd8\x34\x01\1\0\0\0\2\0\0";
  write(folder_ / "llmc.bin", std::string(llmc, sizeof llmc) + std::string(1012, '\0') + "abcd");
  expect_error(small_train({"--text", "llmc.bin"}), runtime_error_code,
               "llmc.bin': token files of llm.c do not hold their vocabulary; name it with --tokenizer");
  write(folder_ / "caf\xe9.txt", std::string(5000, 'a'));
  expect_error(small_train({"--text", "caf\xe9.txt"}), usage_error_code, "data.text is not UTF-8");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, AnOutputFolderThatCannotBeWrittenIsNamed) {
  write(folder_ / "file", "");
  expect_error(small_train({"--out", "file/run"}), runtime_error_code, "file/run");
  expect_error(small_train({"--out", "file"}), runtime_error_code, "'file'");
  expect_error(small_train({"--out", "/proc/run"}), runtime_error_code, "/proc/run");
}

TEST_F(BadInput, ARunIsNotOverwritten) {
  train();
  expect_error(small_train(), runtime_error_code, "--resume run");
  expect_error({"train", "--resume", "run"}, runtime_error_code, "has done its 6 steps");
  expect_error({"train", "--resume", "run", "--steps", "3"}, runtime_error_code, "has done its 6 steps");
  expect_error({"train", "--resume", "other"}, runtime_error_code, "'other' is not a folder");
  fs::create_directory(folder_ / "empty");
  expect_error({"train", "--resume", "empty"}, runtime_error_code, "'empty' holds no config.toml");
}

TEST_F(BadInput, ADamagedCheckpointIsRefused) {
  train();
  expect_error({"generate", "--from", "missing"}, runtime_error_code, "no such folder");
  fs::create_directory(folder_ / "empty");
  expect_error({"info", "empty"}, runtime_error_code, "no model.safetensors");

  const fs::path model = folder_ / "run" / "best" / "model.safetensors";
  fs::resize_file(model, fs::file_size(model) - 100);
  expect_error({"generate", "--from", "run"}, runtime_error_code, "cut off");
  fs::resize_file(model, 3);
  expect_error({"generate", "--from", "run"}, runtime_error_code, "model.safetensors");
  write(model, "PK\3\4 this is a PyTorch zip archive");
  expect_error({"generate", "--from", "run"}, runtime_error_code, "not a valid safetensors file");
  fs::copy_file(folder_ / "run" / "last" / "optimizer.safetensors", model,
                fs::copy_options::overwrite_existing);
  expect_error({"info", "run"}, runtime_error_code, "is it another model's file?");
}

TEST_F(BadInput, ACheckpointOfAnotherModelOrTextIsRefused) {
  train();
  const std::vector<std::string> longer = {"train", "--resume", "run", "--set", "train.steps=9", "--set"};
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> arguments = longer;
    arguments.push_back(setting);
    return arguments;
  };
  expect_error(with("model.channels=32"), runtime_error_code, "model keys");
  expect_error(with("data.story_bytes=40000"), runtime_error_code, "has the text changed?");
  write(folder_ / "run" / "last" / "config.json", R"({"model_type": "bert"})");
  expect_error(with("train.batch=2"), runtime_error_code, "model_type is 'bert'");
  write(folder_ / "run" / "last" / "trainer_state.json", "{");
  expect_error(with("train.batch=2"), runtime_error_code, "trainer_state.json");
}

TEST_F(BadInput, PlansOfWhatCannotBeAreRefused) {
  const auto plan = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", "--ranks", "4", "--device", "h100"});
    return more;
  };
  expect_error(plan({"--model", "gpt3"}), usage_error_code,
               "plan: --model is no folder, and is 'gpt3', expected");
  expect_error({"plan", "--model", "gpt2", "--device", "h1000"}, usage_error_code, "(did you mean 'h100'?)");
  expect_error({"plan", "--model", "gpt2", "--ranks", "0"}, usage_error_code,
               "plan: --ranks: '0' is not a whole");
  expect_error(plan({"--model", "gpt2", "--tokens", "many"}), usage_error_code, "such as 300M or 10B");
  expect_error(plan({"--model", "gpt2", "--machine"}), usage_error_code, "give either");
  expect_error(plan({"--model", "gpt2", "--set", "train.accumulate=2"}), usage_error_code,
               "4 ranks need 4 micro-batches per update");
  expect_error(plan({"--model", "gpt2", "--context", "2048", "--dtype", "fp8"}), usage_error_code, "fp8");
  expect_error(plan({"--set", "lora.rank=8"}), usage_error_code,
               "plan: it knows runs that train all of a model");
  expect_error({"plan", "--model", "toy", "--threads", "1000", "--per-node", "8"}, usage_error_code, "cores");
}

TEST_F(BadInput, WrongSamplingOptionsAreNamed) {
  train();
  expect_error({"generate", "--from", "run", "--temperature", "-1"}, usage_error_code, "temperature");
  expect_error({"generate", "--from", "run", "--temperature", "nan"}, usage_error_code, "temperature");
  expect_error({"generate", "--from", "run", "--top-p", "2"}, usage_error_code, "top_p");
  expect_error({"generate", "--from", "run", "--top-k", "-1"}, usage_error_code, "--top-k");
  expect_error({"generate", "--from", "run", "--threads", "-1"}, usage_error_code, "--threads");
  expect_error({"bench", "--model", "toy", "--threads", "100000"}, usage_error_code, "--threads");
  for (const char* seed : {"-1", "18446744073709551616", "1.5", ""}) {
    expect_error({"generate", "--from", "run", "--seed", seed}, usage_error_code, "--seed");
  }
  expect_error({"generate", "--from", "run", "--tokens", "-5"}, usage_error_code, "--tokens");
  expect_error({"generate", "--from", "run", "--prompt", "\xe2\x82\xac"}, runtime_error_code, "\xe2\x82\xac");
}

TEST_F(BadInput, APromptThatTheTextCannotSpellIsRefusedBeforeTraining) {
  expect_error(small_train({"--set", "sample.prompt=\u20ac"}), runtime_error_code,
               "sample.prompt: encode: the character '\u20ac'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, AResumedRunKeepsItsFolderAndSeed) {
  train();
  expect_error({"train", "--resume", "run", "--steps", "9", "--out", "other"}, usage_error_code,
               "leave out --out");
  expect_error({"train", "--resume", "run", "--steps", "9", "--seed", "7"}, runtime_error_code,
               "run.seed = 1, not 7");
}

TEST_F(BadInput, TwoProcessesDoNotTrainInOneFolder) {
  Program first(small_train({"--set", "train.steps=100000000", "--set", "train.save_every=1"}),
                {.folder = folder_.path()});
  while (first.running() && !fs::exists(folder_ / "run" / "last")) ::usleep(500);
  expect_error({"train", "--resume", "run"}, runtime_error_code,
               "'run' is in use by another training process");
  expect_error(small_train(), runtime_error_code, "'run' is in use by another training process");
  EXPECT_TRUE(first.running());
}

TEST_F(BadInput, ARunThatCannotBeReportedIsNamed) {
  expect_error({"report", "missing"}, runtime_error_code, "open 'missing': there is no such folder");
  fs::create_directory(folder_ / "empty");
  expect_error({"report", "empty"}, runtime_error_code, "there is no config.toml in it");
  train();
  expect_error({"report", "run", "run", "--out", "no/such/page.html"}, runtime_error_code,
               "no/such/page.html");
  expect_error({"report", "run", "--out", "empty"}, runtime_error_code, "it is no regular file");
  write(folder_ / "run" / "log.jsonl", "{\"step\": 1\n{}\n");
  expect_error({"report", "run"}, runtime_error_code, "log.jsonl:1': this line is not a JSON object");
}

TEST_F(BadInput, AFolderThatVanishesStopsTheRun) {
  Program program(small_train({"--set", "train.steps=100000000"}), {.folder = folder_.path()});
  while (program.running() && !fs::exists(folder_ / "run" / "last")) ::usleep(500);
  fs::rename(folder_ / "run", folder_ / "moved");
  expect_one_line(program.wait(), runtime_error_code, "no such file or directory");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(BadInput, ADivergingRunStopsAndKeepsTheLastGoodCheckpoint) {
  const std::vector<std::string> often = {"--set", "train.eval_every=1"};
  std::vector<std::string> diverging = {"--set", "optimizer.lr=1e30"};
  diverging.insert(diverging.end(), often.begin(), often.end());
  expect_error(small_train(diverging), runtime_error_code, "there is no checkpoint yet");

  ASSERT_EQ(program(small_train({"--out", "good"})).code, 0);
  std::vector<std::string> resume = {"train", "--resume", "good", "--set", "train.steps=20"};
  resume.insert(resume.end(), diverging.begin(), diverging.end());
  expect_error(resume, runtime_error_code, "lower optimizer.lr (now 1e+30)");
  expect_error(resume, runtime_error_code, "the last good checkpoint is 'good/last', of step 6");
}

TEST_F(BadInput, AFullDiskIsNamedAndLeavesTheOldCheckpointWhole) {
  if (CLADTORCH_THREAD_SANITIZER) GTEST_SKIP() << "TSan maps a file of its own, which the limit cuts off";
  train();
  const Outcome before = program({"generate", "--from", "run", "--temperature", "0"});
  const Outcome outcome = run({"train", "--resume", "run", "--set", "train.steps=9"},
                              {.folder = folder_.path(), .file_size_limit = 16'000});
  expect_one_line(outcome, runtime_error_code, "model.safetensors");
  EXPECT_EQ(program({"generate", "--from", "run", "--temperature", "0"}).out, before.out);
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(BadInput, AFullDiskUnderTheStandardOutputIsNamed) {
  expect_one_line(
      run({"data", "stories", "--bytes", "1000"}, {.folder = folder_.path(), .standard_output = "/dev/full"}),
      runtime_error_code, "cannot write 'standard output': no space left on device");
  train();
  expect_one_line(
      run({"generate", "--from", "run"}, {.folder = folder_.path(), .standard_output = "/dev/full"}),
      runtime_error_code, "cannot write 'standard output': no space left on device");
  expect_error({"data", "stories", "--bytes", "1000", "--out", "/dev/full"}, runtime_error_code,
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
  expect_one_line(outcome, runtime_error_code, "no space left on device");
}

TEST_F(BadInput, TokenizersNameTheFileAndWhatIsWrongWithIt) {
  write(folder_ / "t.txt", "some text");
  write(folder_ / "bad.json", R"({"model":{"type":"WordPiece"}})");
  expect_error(small_train({"--tokenizer", "none"}), usage_error_code, "'none' does not exist");
  expect_error(small_train({"--tokenizer", "bad.json"}), runtime_error_code,
               "the model 'WordPiece' is not supported");
  expect_error({"tokenizer", "encode", "--tokenizer", "none", "a"}, runtime_error_code, "'none'");
  expect_error({"tokenizer", "encode", "--tokenizer", ".", "a"}, runtime_error_code, "has no tokenizer.json");
  write(folder_ / "byte.json", R"({"format":"cladtorch-tokenizer","version":1,"kind":"byte"})");
  for (const char* number : {"99999999999", "1.5", "x"}) {
    expect_error({"tokenizer", "decode", "--tokenizer", "byte.json", number}, runtime_error_code,
                 "'" + std::string(number) + "' is not a token id");
  }
  expect_error({"tokenizer", "decode", "--tokenizer", "byte.json", "256"}, runtime_error_code, "token 256");
  expect_error({"tokenizer", "train", "--text", "none", "--out", "t.json"}, runtime_error_code,
               "'none' does not exist");
  expect_error({"tokenizer", "train", "--text", "t.txt", "--out", "t.json", "--vocab-size", "9"},
               usage_error_code, "--vocab-size");
  EXPECT_FALSE(fs::exists(folder_ / "t.json"));
}

TEST_F(BadInput, NoErrorQuotesAWholeFile) {
  const std::string name(70'000, 'x');
  const auto expect_short = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = program(arguments);
    expect_one_line(outcome, outcome.code, std::string(60, 'x'));
    EXPECT_LT(outcome.err.size(), 1000u);
    EXPECT_NE(outcome.code, 0);
  };
  for (const std::string& json :
       {R"({"model":{"type":")" + name + R"("}})",
        R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[")" + name + R"("]}})",
        R"({"model":{"type":"BPE","vocab":{")" + name + R"(":-1},"merges":[]}})",
        R"({"format":"cladtorch-tokenizer","version":1,"kind":")" + name + R"("})",
        R"({"format":"cladtorch-tokenizer","version":1,"kind":"char","characters":[")" + name + R"("]})"}) {
    write(folder_ / "t.json", json);
    expect_short({"tokenizer", "show", "--tokenizer", "t.json"});
  }
  for (const std::string& toml :
       {"[train]\n" + name + " = 1\n", "[train]\nsteps = \"" + name + "\"\n",
        "[model]\nkind = \"" + name + "\"\n", name + " = 1\n", "[" + name + "]\n[" + name + "]\n"}) {
    write(folder_ / "c.toml", toml);
    expect_short(small_train({"--config", "c.toml"}));
  }
  train();
  const std::string config = content(folder_ / "run" / "best" / "config.json");
  for (const char* key : {"model_type", "activation_function", "is_causal"}) {
    auto json = nlohmann::json::parse(config);
    json[key] = name;
    write(folder_ / "run" / "best" / "config.json", json.dump());
    expect_short({"info", "run"});
  }
  const std::string header = R"({")" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})";
  const uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  write(folder_ / "ids", file + header + std::string(8, '\0'));
  write(folder_ / "run" / "best" / "config.json", config);
  expect_short({"eval", "--from", "run", "--ids", "ids"});
}

TEST_F(BadInput, NamedPipesAreNotWaitedFor) {
  train();
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string refused = "it is a named pipe";
  expect_error({"tokenizer", "encode", "--tokenizer", "pipe", "a"}, runtime_error_code, refused);
  expect_error(small_train({"--out", "new", "--tokenizer", "pipe"}), runtime_error_code, refused);
  expect_error(small_train({"--out", "new", "--config", "pipe"}), runtime_error_code, refused);
  expect_error({"eval", "--from", "run", "--ids", "pipe"}, runtime_error_code, refused);
  expect_error({"import", "--from", "pipe", "--out", "model"}, runtime_error_code, "neither a folder");
  expect_error({"eval", "--from", "run", "--text", "pipe"}, runtime_error_code,
               "neither a file nor a folder");
  for (const char* file : {"log.jsonl", "run.json", "config.toml"}) {
    fs::rename(folder_ / "run" / file, folder_ / "kept");
    fs::create_symlink(pipe, folder_ / "run" / file);
    expect_error({"report", "run"}, runtime_error_code, refused);
    fs::rename(folder_ / "kept", folder_ / "run" / file);
  }
}

TEST_F(BadInput, LinksThatLeadInACircleAreNamed) {
  fs::create_symlink("loop", folder_ / "loop");
  const std::vector<std::vector<std::string>> commands = {{"info", "loop"},
                                                          {"report", "loop"},
                                                          {"train", "--resume", "loop"},
                                                          small_train({"--out", "loop"}),
                                                          small_train({"--config", "loop"}),
                                                          small_train({"--text", "loop"}),
                                                          {"tokenizer", "show", "--tokenizer", "loop"},
                                                          {"eval", "--from", "loop", "--text", "x"},
                                                          {"import", "--from", "loop", "--out", "model"}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = program(command);
    expect_one_line(outcome, runtime_error_code, "loop");
    EXPECT_THAT(outcome.err, HasSubstr("oo many levels of symbolic links")) << command.front();
    EXPECT_THAT(outcome.err, testing::Not(HasSubstr("filesystem error"))) << command.front();
  }
}

TEST_F(BadInput, AFileThatMayNotBeReadIsNamed) {
  write(folder_ / "closed", "{}");
  fs::permissions(folder_ / "closed", fs::perms::none);
  const auto without_privileges = [&](const std::vector<std::string>& arguments) {
    return run(arguments, {.folder = folder_.path(), .before = [] {
                             for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
                               ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
                           }});
  };
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"tokenizer", "show", "--tokenizer", "closed"},
        small_train({"--config", "closed"}),
        {"data", "show", "--text", "closed"}}) {
    expect_one_line(without_privileges(command), runtime_error_code,
                    "'closed': permission denied; name one that you may read");
  }
}

}  // namespace
}  // namespace cladtorch::integration
