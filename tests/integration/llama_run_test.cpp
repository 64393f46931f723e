// Runs of Llama and Mistral, from a configuration to text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"
#include "tests/integration/program.h"
#include "tests/integration/small_run.h"

namespace cladtorch::integration {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// Its name is the kind of the model.
class LlamaRun : public testing::TestWithParam<const char*> {
 protected:
  std::string succeed(const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments, {.folder = folder_.path()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
  std::string train(const std::string& out, int steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments =
        small_train({"--out", out, "--set", "schedule.kind=constant", "--steps", std::to_string(steps),
                     "--config", folder_ / "model.toml"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return succeed(arguments);
  }
  void SetUp() override {
    const bool mistral = std::string(GetParam()) == "mistral";
    folder_.write("model.toml", std::string("[model]\nkind = \"") + GetParam() +
                                    "\"\nkv_heads = 1\nhidden = 40\nrope_theta = 500\n" +
                                    (mistral ? "window = 7\n" : "tied = false\n"));
  }
  json read(const std::string& path) { return json::parse(folder_.read(path)); }

  io::TemporaryFolder folder_;
};

TEST_P(LlamaRun, LowersTheLossAndIsAFolderOfItsKind) {
  EXPECT_THAT(train("run", 60, {"--set", "train.eval_every=60"}), HasSubstr(GetParam()));
  const json config = read("run/best/config.json");
  EXPECT_EQ(config["model_type"], GetParam());
  EXPECT_EQ(config["hidden_size"], 16);
  EXPECT_EQ(config["intermediate_size"], 40);
  EXPECT_EQ(config["num_key_value_heads"], 1);
  EXPECT_EQ(config["rope_theta"], 500);
  EXPECT_EQ(config["tie_word_embeddings"], std::string(GetParam()) == "mistral");
  const double untrained = std::log(config["vocab_size"].get<double>());
  EXPECT_LT(read("run/last/trainer_state.json")["val_loss"], 0.85 * untrained);
}

TEST_P(LlamaRun, ResumesBitForBit) {
  train("whole", 8);
  train("run", 4);
  succeed({"train", "--resume", "run", "--steps", "8"});
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "config.json", "tokenizer.json"}) {
    EXPECT_EQ(folder_.read(std::string("run/last/") + file), folder_.read(std::string("whole/last/") + file))
        << file;
  }
}

TEST_P(LlamaRun, WritesTextAndIsEvaluated) {
  train("run", 6);
  const auto generate = [&](const char* seed) {
    return succeed({"generate", "--from", "run", "--prompt", "The ", "--tokens", "60", "--seed", seed});
  };
  const std::string text = generate("1");
  EXPECT_THAT(text, StartsWith("The "));
  EXPECT_EQ(text.size(), 65u);  // beyond the context of 32 tokens
  EXPECT_EQ(generate("1"), text);
  EXPECT_NE(generate("2"), text);
  folder_.write("text", "The old fox went home. ");
  EXPECT_GT(json::parse(succeed({"eval", "--from", "run", "--text", "text", "--json"})).size(), 0u);
  EXPECT_THAT(succeed({"info", "run"}), HasSubstr(std::string("model      ") + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, LlamaRun, testing::Values("llama", "mistral"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace cladtorch::integration
