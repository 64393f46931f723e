// `cladtorch finetune` on models that transformers saved with their tokenizers.
#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cladtorch/io/safetensors.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A text of few words in an order that repeats: easier to learn than random tokens.
std::string easy_text() {
  std::string text;
  const char* words[] = {"the old king", "a ship", "went to the sea", "saw the night", "sang", "again"};
  for (unsigned i = 0, draw = 1; i < 4000; ++i, draw = draw * 1103515245 + 12345) {
    text += words[draw / 65536 % 6];
    text += i % 7 == 6 ? ".\n" : " ";
  }
  return text;
}

class FinetuneTest : public ProgramTestBase {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "text.txt") << easy_text();
    fs::copy(fs::path(CLADTORCH_HELLASWAG_FOLDERS) / "gpt2", folder_ / "gpt2");
    fs::copy(fs::path(CLADTORCH_HELLASWAG_FOLDERS) / "llama", folder_ / "llama");
  }

  static std::vector<std::string> finetune(const std::string& model,
                                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"finetune", "--from",    model,  "--text",  "text.txt",
                                          "--out",    "run",       "--lr", "1e-2",    "--context",
                                          "32",       "--threads", "1",    "--steps", "12"};
    for (const char* setting : {"schedule.kind=constant", "schedule.warmup=0", "train.eval_every=4",
                                "train.eval_batches=3", "sample.count=1", "sample.tokens=10"})
      arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  nlohmann::json facts() const { return nlohmann::json::parse(content(folder_ / "run" / "run.json")); }
  nlohmann::json state(const char* checkpoint = "last") const {
    return nlohmann::json::parse(content(folder_ / "run" / checkpoint / "trainer_state.json"));
  }
  double evaluated_loss(const std::string& model) {
    return nlohmann::json::parse(
        succeed({"eval", "--from", model, "--text", "text.txt", "--json"}))["results"][0]["loss"];
  }

  void expect_lower_loss(const std::string& model) {
    const std::string out = succeed(finetune(model));
    EXPECT_THAT(out, HasSubstr("start   validation loss "));
    EXPECT_THAT(out, HasSubstr("first val"));
    EXPECT_THAT(out, HasSubstr(" parameters on 1.5k tokens in "));
    const double before = facts()["first_val"], best = state()["best_val"];
    EXPECT_EQ(before, state()["first_val"]);
    EXPECT_LT(best, before - 1);
    EXPECT_LT(evaluated_loss("run"), evaluated_loss(model) - 1);
    succeed({"generate", "--from", "run", "--prompt", "the old", "--tokens", "5"});
  }
};

TEST_F(FinetuneTest, LowersTheValidationLossOfAGPT2) {
  expect_lower_loss("gpt2");
  EXPECT_EQ(content(folder_ / "run/best/tokenizer.json"), content(folder_ / "gpt2/tokenizer.json"));
  const auto config = nlohmann::json::parse(content(folder_ / "run/best/config.json"));
  EXPECT_EQ(config["eos_token_id"], 50256) << "what only other programs read goes along";
}

TEST_F(FinetuneTest, LowersTheValidationLossOfALlama) { expect_lower_loss("llama"); }

TEST_F(FinetuneTest, WritesDownWhatModelItBeganWith) {
  const auto keys_after = [&](const char* model, const char* key, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(content(folder_ / model / "config.json"));
    config[key] = value;
    std::ofstream(folder_ / model / "config.json") << config;
    succeed(finetune(model, {"--steps", "1"}));
    const std::string keys = content(folder_ / "run/config.toml");
    fs::remove_all(folder_ / "run");
    return keys;
  };
  EXPECT_THAT(keys_after("gpt2", "resid_pdrop", 0.25),
              AllOf(HasSubstr("\nlayers = 2 "), HasSubstr("\nchannels = 16 "), HasSubstr("\nhidden = 64 "),
                    HasSubstr("\ntied = true "), HasSubstr("\ndropout = 0.25 ")));
  EXPECT_THAT(keys_after("gpt2", "activation_function", "gelu"), HasSubstr("\nactivation = \"gelu\" "));
  EXPECT_THAT(keys_after("llama", "rope_parameters", {{"rope_theta", 500.5}, {"rope_type", "default"}}),
              AllOf(HasSubstr("\nhidden = 24 "), HasSubstr("\nrope_theta = 500.5 "),
                    HasSubstr("\ntied = false "), HasSubstr("\nkv_heads = 1 ")));
}

TEST_F(FinetuneTest, RefusesKeysThatTheModelHasOtherwise) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gpt2", "model.kind=llama"},   {"gpt2", "model.layers=4"},    {"gpt2", "model.dropout=0.3"},
      {"gpt2", "model.tied=false"},   {"gpt2", "model.window=8"},    {"llama", "model.activation=relu"},
      {"llama", "model.dropout=0.1"}, {"llama", "model.hidden=100"}, {"llama", "model.rope_theta=1"}};
  for (const auto& [model, setting] : wrong) {
    const std::string key = std::string(setting).substr(0, std::string(setting).find('='));
    expect_error(finetune(model, {"--set", setting}), usage_error_code, key + " is ");
  }
  expect_error(finetune("gpt2", {"--set", "model.layers=4"}), usage_error_code,
               "model.layers is 4, but that of the model in '");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  succeed(finetune("gpt2", {"--steps", "1", "--set", "model.layers=2", "--set", "model.hidden=0"}));
  fs::rename(folder_ / "run", folder_ / "first");
  // A file that a run wrote names every key.
  succeed({"finetune", "--from", "gpt2", "--config", "first/config.toml", "--out", "run"});
  expect_error({"finetune", "--resume", "run", "--steps", "2", "--set", "model.heads=4"}, usage_error_code,
               "model.heads is 4");
}

TEST_F(FinetuneTest, GoesOnFromARunOfThisProgram) {
  succeed(finetune("gpt2"));
  fs::rename(folder_ / "run", folder_ / "first");
  succeed(finetune("first", {"--dtype", "bf16"}));
  const double before = facts()["first_val"], best = state()["best_val"];
  EXPECT_LT(best, before);
}

TEST_F(FinetuneTest, ResumesToTheBitAlsoWithoutTheModelThatItBeganWith) {
  for (const char* dtype : {"fp32", "bf16"}) {
    const std::vector<std::string> options = {"--dtype", dtype, "--train-only",
                                              "transformer.h,transformer.ln_f"};
    succeed(finetune("gpt2", options));
    fs::rename(folder_ / "run", folder_ / "straight");
    fs::copy(folder_ / "gpt2", folder_ / "other");
    std::vector<std::string> half = finetune("other", options);
    half.insert(half.end(), {"--steps", "5"});
    succeed(half);
    fs::remove_all(folder_ / "other");
    succeed({"finetune", "--resume", "run", "--steps", "12"});
    for (const char* file : {"last/model.safetensors", "last/optimizer.safetensors", "last/tokenizer.json"})
      EXPECT_EQ(content(folder_ / "run" / file), content(folder_ / "straight" / file)) << file;
    fs::remove_all(folder_ / "run");
    fs::remove_all(folder_ / "straight");
  }
}

TEST_F(FinetuneTest, TrainsWhatIsNotFrozen) {
  const std::string out = succeed(finetune("gpt2", {"--freeze", "transformer.w*,transformer.h.0,*.bias"}));
  EXPECT_THAT(out, HasSubstr("train   3.1k of 25k parameters") /* matrices and norms of one block, ln_f */);
  const io::SafetensorsFile before(folder_ / "gpt2/model.safetensors"),
      after(folder_ / "run/last/model.safetensors");
  const io::SafetensorsFile moments(folder_ / "run/last/optimizer.safetensors");
  for (const auto& [name, tensor] : before.tensors()) {
    const bool frozen =
        name.starts_with("transformer.w") || name.find(".h.0.") != name.npos || name.ends_with("bias");
    const bool same = std::ranges::equal(tensor.data, after.at(name).data);
    EXPECT_EQ(same, frozen) << name;
  }
  EXPECT_FALSE(moments.tensors().contains("exp_avg.wte.weight"));
  EXPECT_TRUE(moments.tensors().contains("exp_avg.h.1.mlp.c_fc.weight"));
  expect_error(
      {"train", "--resume", "run", "--steps", "20", "--freeze", "transformer.w*"}, runtime_error_code,
      "parameters that are trained; were train.freeze, train.train_only or optimizer.momentum changed?");
}

TEST_F(FinetuneTest, StopsWhenTheLossGoesDownNoMore) {
  const std::string out = succeed(finetune("gpt2", {"--lr", "0", "--steps", "100", "--patience", "2"}));
  EXPECT_THAT(out, HasSubstr("stopped after step 8 of 100: 2 evaluations without a lower validation loss"));
  EXPECT_THAT(out, HasSubstr("no evaluation was better than the first: best/ holds the model as it came"));
  EXPECT_EQ(state("best")["step"], 0);
  expect_error({"finetune", "--resume", "run"}, runtime_error_code,
               "stopped early: 2 evaluations had no lower");
  const std::string more = succeed({"finetune", "--resume", "run", "--patience", "4"});
  EXPECT_THAT(more, HasSubstr("stopped after step 16 of 100"));
}

TEST_F(FinetuneTest, TakesPreparedTokens) {
  succeed({"data", "prepare", "--text", "text.txt", "--tokenizer", "gpt2", "--out", "tokens"});
  std::vector<std::string> arguments = finetune("gpt2");
  arguments.insert(arguments.end(), {"--text", "tokens"});
  EXPECT_THAT(succeed(arguments), HasSubstr("first val"));
  EXPECT_EQ(content(folder_ / "run/best/tokenizer.json"), content(folder_ / "gpt2/tokenizer.json"));
}

TEST_F(FinetuneTest, SaysWhatDoesNotFit) {
  const int usage = usage_error_code;
  expect_error({"finetune", "--text", "text.txt"}, usage, "finetune: --from FOLDER is missing");
  expect_error({"finetune", "--from", "gpt2"}, usage, "finetune: there is no text to train on");
  expect_error({"finetune", "--from", "nowhere", "--text", "text.txt"}, runtime_error_code,
               "there is no such folder");
  expect_error(
      finetune("gpt2", {"--freeze", "transformer.wpe.weigth"}), usage,
      "train.freeze: no parameter matches 'transformer.wpe.weigth' (did you mean 'transformer.wpe.weight'?)");
  expect_error(finetune("gpt2", {"--train-only", ","}), usage, "train.train_only is ',', which names no");
  expect_error({"generate", "--from", "gpt2"}, runtime_error_code,
               "the empty prompt is the token 50256 (bos_token_id), but the model has only 1000");
  expect_error(finetune("gpt2", {"--context", "1024"}), usage, "model.context is 1024, but the model in '");
  expect_error(
      finetune("gpt2", {"--tokenizer", "llama", "--set", "model.from=" + (folder_ / "tiny").string()}),
      runtime_error_code, "there is no such folder");
  fs::remove(folder_ / "gpt2/tokenizer.json");
  expect_error(finetune("gpt2"), runtime_error_code,
               "holds no tokenizer; name the model's with --tokenizer PATH");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  succeed(finetune("llama", {"--steps", "1"}));
  expect_error({"finetune", "--resume", "run", "--from", "llama"}, usage, "leave out --from");
}

TEST_F(FinetuneTest, AModelWithANumberThatIsNoneIsNamed) {
  set_first_number(folder_ / "gpt2/model.safetensors", NAN);
  expect_error(finetune("gpt2"), runtime_error_code, "gpt2' holds numbers that are not finite");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  expect_error({"eval", "--from", "gpt2", "--text", "text.txt"}, runtime_error_code,
               "'text.txt': evaluate: the model's scores are not finite");
  expect_error({"eval", "--from", "gpt2", "--hellaswag", CLADTORCH_HELLASWAG_FOLDERS "/questions.jsonl"},
               runtime_error_code, "line 1: the model's scores are not finite");
}

TEST_F(FinetuneTest, CtrlCBeforeTheFirstStepLeavesARunToResume) {
  Program program(finetune("gpt2", {"--steps", "100000", "--set", "train.eval_batches=200"}),
                  {.folder = folder_.path()});
  while (program.running() && !fs::exists(folder_ / "run" / "config.toml")) ::usleep(100);
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, interrupted_code) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("continue with: cladtorch train --resume run"));
  EXPECT_EQ(outcome.err, "");
  succeed({"finetune", "--resume", "run", "--steps", std::to_string(state()["step"].get<int64_t>() + 1)});
}

/// CLADTORCH_DATA names a folder that holds gpt2/vocab.bpe, gpt2/encoder.json and tinyshakespeare.txt.
TEST_F(FinetuneTest, LowersTheLossOnTinyShakespeareInTheTokensOfGPT2) {
  const char* data = std::getenv("CLADTORCH_DATA");
  if (data == nullptr)
    GTEST_SKIP() << "CLADTORCH_DATA is not set: no vocabulary of GPT-2, no Tiny Shakespeare";
  std::vector<std::string> arguments = finetune(fs::path(CLADTORCH_HF_REFERENCES) / "gpt2-bpe");
  arguments.insert(arguments.end(), {"--text", fs::path(data) / "tinyshakespeare.txt", "--tokenizer",
                                     fs::path(data) / "gpt2", "--steps", "40"});
  EXPECT_THAT(succeed(arguments), HasSubstr("338k tokens of 50257 kinds"));
  const double before = facts()["first_val"], best = state()["best_val"];
  EXPECT_NEAR(before, 10.8, 0.1) << "ln 50257: it knows nothing";
  EXPECT_LT(best, before - 1);
}

}  // namespace
}  // namespace cladtorch::integration
