// What the program makes of a folder of transformers with a tokenizer and settings of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"
#include "tests/integration/program.h"

namespace cladtorch::integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// The folder "model": a GPT-2 of 29 tokens that transformers made, with 26 letters and two added tokens.
class ModelFolder : public testing::Test {
 protected:
  ModelFolder() {
    fs::copy(fs::path(CLADTORCH_HF_REFERENCES) / "gpt2-tied", folder_ / "model");
    json vocabulary;
    for (int i = 0; i < 26; ++i) vocabulary[std::string(1, static_cast<char>('a' + i))] = i;
    write("tokenizer.json",
          {{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}},
           {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
           {"decoder", {{"type", "ByteLevel"}}},
           {"added_tokens", {{{"id", 26}, {"content", "<|begin|>"}, {"special", true}}}}});
    write("tokenizer_config.json", {{"added_tokens_decoder", {{"27", {{"content", "<|end|>"}}}}},
                                    {"bos_token", "<|begin|>"},
                                    {"eos_token", "<|end|>"}});
    edit_config({{"eos_token_id", nullptr}, {"bos_token_id", 26}});
  }

  void write(const char* name, const json& content) {
    io::write_file(folder_ / "model" / name, content.dump());
  }
  json read(const fs::path& path) { return json::parse(io::read_file(folder_ / path)); }
  void edit_config(const json& changes) {
    json config = read("model/config.json");
    config.update(changes);
    write("config.json", config);
  }

  Outcome program(const std::vector<std::string>& arguments) {
    return run(arguments, {.folder = folder_.path()});
  }
  std::string succeed(const std::vector<std::string>& arguments) {
    const Outcome outcome = program(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
  std::string generate(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"generate",      "--from", "model",    "--prompt", "cab",
                                          "--temperature", "0",      "--tokens", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return succeed(arguments);
  }
  void expect_error(const std::vector<std::string>& arguments, const std::string& message) {
    const Outcome outcome = program(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  io::TemporaryFolder folder_;
};

TEST_F(ModelFolder, IsGeneratedFromUntilATokenThatEndsTheText) {
  const std::string all = generate({"--ignore-eos"});
  ASSERT_THAT(all, StartsWith("cab"));
  const std::string written = all.substr(3, all.size() - 4);
  ASSERT_GT(written.size(), 1u);
  const int first = written[0] - 'a';
  write("generation_config.json", {{"eos_token_id", {28, first}}});
  EXPECT_EQ(generate(), "cab\n");
  EXPECT_EQ(generate({"--ignore-eos"}), all);
  // What generation_config.json names comes before config.json, and both before the tokenizer.
  edit_config({{"eos_token_id", first}});
  write("generation_config.json", {{"eos_token_id", 28}});
  EXPECT_EQ(generate(), all);
  write("generation_config.json", json::object());
  EXPECT_EQ(generate(), "cab\n");
  edit_config({{"eos_token_id", nullptr}});
  EXPECT_EQ(generate(), all);
  write("tokenizer_config.json", {{"eos_token", std::string(1, written[0])}});
  EXPECT_EQ(generate(), "cab\n");
}

TEST_F(ModelFolder, MayHaveMoreRowsThanItsTokenizerHasTokensButNotFewer) {
  EXPECT_THAT(succeed({"info", "model"}), HasSubstr("bpe, 28 tokens"));
  io::write_file(folder_ / "text", "somewordsandmore");
  EXPECT_THAT(succeed({"eval", "--from", "model", "--text", "text", "--json"}), HasSubstr("\"tokens\":15"));
  write("added_tokens.json", {{"<a>", 28}, {"<b>", 29}});
  write("tokenizer_config.json", json::object());
  for (const std::vector<std::string>& command : {std::vector<std::string>{"generate", "--from", "model"},
                                                  {"eval", "--from", "model", "--text", "text"},
                                                  {"info", "model"}}) {
    expect_error(command, "its tokenizer has 30 tokens, but its model only 29");
  }
  fs::remove(folder_ / "model/tokenizer.json");
  expect_error({"generate", "--from", "model"}, "has no tokenizer.json");
  write("generation_config.json", {{"eos_token_id", "x"}});
}

TEST_F(ModelFolder, IsPromptedWithWhatGoesBeforeAText) {
  // Drawn, as the most likely letter is the same after nearly any text.
  const auto drawn = [&](const std::string& prompt) {
    return succeed(
        {"generate", "--from", "model", "--prompt", prompt, "--temperature", "1", "--tokens", "12"});
  };
  const std::string with_begin = drawn("<|begin|>cab");
  ASSERT_NE(with_begin, "<|begin|>" + drawn("cab"));
  json tokenizer = read("model/tokenizer.json");
  tokenizer["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "<|begin|>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}}},
      {"special_tokens", {{"<|begin|>", {{"ids", {26}}}}}}};
  write("tokenizer.json", tokenizer);
  EXPECT_EQ(with_begin, "<|begin|>" + drawn("cab"));
}

TEST_F(ModelFolder, SaysWhichOfItsFilesIsWrong) {
  write("generation_config.json", {{"eos_token_id", "x"}});
  expect_error({"generate", "--from", "model"}, "generation_config.json': eos_token_id is string");
  fs::remove(folder_ / "model/generation_config.json");
  io::write_file(folder_ / "model/tokenizer_config.json", "{");
  expect_error({"generate", "--from", "model"}, "tokenizer_config.json': not JSON");
}

TEST_F(ModelFolder, KeepsItsFilesWhenItIsExported) {
  write("generation_config.json", {{"eos_token_id", {27, 28}}, {"temperature", 0.6}});
  io::write_file(folder_ / "model/chat_template.jinja", "{{ messages }}");
  edit_config({{"pad_token_id", 3}, {"task_specific_params", {{"a", 1}}}});
  succeed({"export", "--from", "model", "--out", "copy", "--format", "hf"});
  for (const char* name :
       {"tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"}) {
    EXPECT_EQ(io::read_file(folder_ / "copy" / name), io::read_file(folder_ / "model" / name)) << name;
  }
  const json config = read("copy/config.json");
  EXPECT_EQ(config["pad_token_id"], 3);
  EXPECT_EQ(config["bos_token_id"], 26);
  EXPECT_EQ(config["task_specific_params"]["a"], 1);
}

/// A run on a text with this tokenizer.
TEST_F(ModelFolder, GivesItsTokenizerToARunWhoseCheckpointsSayTheRolesOfTokens) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + i * i % 26);
  io::write_file(folder_ / "text", text);
  const auto train = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train",
                                          "--set",
                                          "model.layers=1",
                                          "--set",
                                          "model.heads=1",
                                          "--set",
                                          "model.channels=8",
                                          "--set",
                                          "model.context=8",
                                          "--set",
                                          "train.batch=2",
                                          "--set",
                                          "train.eval_batches=1",
                                          "--set",
                                          "sample.count=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    succeed(arguments);
  };
  train({"--text", "text", "--tokenizer", "model", "--out", "run", "--set", "train.steps=2"});
  const json config = read("run/last/config.json");
  EXPECT_EQ(config["vocab_size"], 28);
  EXPECT_EQ(config["bos_token_id"], 26);
  EXPECT_EQ(config["eos_token_id"], 27);
  EXPECT_EQ(read("run/last/tokenizer_config.json")["eos_token"], "<|end|>");
  const std::string before = io::read_file(folder_ / "run/last/tokenizer.json");
  train({"--resume", "run", "--set", "train.steps=4"});
  EXPECT_EQ(io::read_file(folder_ / "run/last/tokenizer.json"), before);
  EXPECT_EQ(read("run/last/config.json")["eos_token_id"], 27);
  EXPECT_THAT(succeed({"info", "run"}), HasSubstr("bpe, 28 tokens"));
}

}  // namespace
}  // namespace cladtorch::integration
