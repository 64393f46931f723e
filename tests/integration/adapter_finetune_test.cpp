// `cladtorch finetune --lora-rank` on models that transformers saved with their tokenizers.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cladtorch/io/safetensors.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class AdapterFinetuneTest : public ProgramTestBase {
 protected:
  void SetUp() override {
    std::ofstream text(folder_ / "text.txt");
    const char* words[] = {"the old king", "a ship", "went to the sea", "saw the night", "sang", "again"};
    for (unsigned i = 0, draw = 1; i < 4000; ++i, draw = draw * 1103515245 + 12345)
      text << words[draw / 65536 % 6] << (i % 7 == 6 ? ".\n" : " ");
    for (const char* model : {"gpt2", "llama"})
      fs::copy(fs::path(CLADTORCH_HELLASWAG_FOLDERS) / model, folder_ / model);
  }

  static std::vector<std::string> finetune(const std::string& model,
                                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "finetune", "--from",  model,  "--text",         "text.txt",   "--out",     "run", "--lora-rank",
        "4",        "--lr",    "2e-2", "--lora-targets", "all-linear", "--context", "32",  "--threads",
        "1",        "--steps", "12"};
    for (const char* setting : {"schedule.kind=constant", "schedule.warmup=0", "train.eval_every=4",
                                "train.eval_batches=3", "sample.count=1", "sample.tokens=10"})
      arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  double loss(const std::vector<std::string>& model) {
    std::vector<std::string> arguments = {"eval", "--text", "text.txt", "--json", "--from"};
    arguments.insert(arguments.end(), model.begin(), model.end());
    return nlohmann::json::parse(succeed(arguments))["results"][0]["loss"];
  }

  void expect_lower_loss(const std::string& model) {
    const std::string before = content(folder_ / model / "model.safetensors");
    const std::string out = succeed(finetune(model));
    EXPECT_THAT(out, HasSubstr("start   validation loss "));
    EXPECT_EQ(content(folder_ / model / "model.safetensors"), before) << "the model stays as it was";
    for (const char* checkpoint : {"run/best", "run/last"}) {
      EXPECT_TRUE(fs::exists(folder_ / checkpoint / "adapter_model.safetensors"));
      EXPECT_TRUE(fs::exists(folder_ / checkpoint / "tokenizer.json"));
      EXPECT_FALSE(fs::exists(folder_ / checkpoint / "model.safetensors"));
    }
    const auto config = nlohmann::json::parse(content(folder_ / "run/best/adapter_config.json"));
    EXPECT_EQ(config["r"], 4);
    EXPECT_EQ(config["lora_alpha"], 8);
    EXPECT_EQ(config["base_model_name_or_path"], (folder_ / model).string());
    const io::SafetensorsFile moments(folder_ / "run/last/optimizer.safetensors"),
        adapter(folder_ / "run/last/adapter_model.safetensors");
    EXPECT_EQ(moments.tensors().size(), 2 * adapter.tensors().size());

    const double adapted = loss({"run"});
    EXPECT_LT(adapted, loss({model}) - 0.5);
    EXPECT_EQ(loss({model, "--adapter", "run"}), adapted);
    succeed({"merge", "--from", model, "--adapter", "run", "--out", "merged"});
    EXPECT_NEAR(loss({"merged"}), adapted, 1e-5);
    const std::vector<std::string> sampling = {"--prompt", "the old", "--tokens", "9", "--temperature", "0"};
    const auto generated = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), sampling.begin(), sampling.end());
      return succeed(arguments);
    };
    EXPECT_EQ(generated({"generate", "--from", model, "--adapter", "run/best"}),
              generated({"generate", "--from", "merged"}));
    succeed({"info", "run"});
  }
};

TEST_F(AdapterFinetuneTest, LowersTheValidationLossOfAGPT2) { expect_lower_loss("gpt2"); }
TEST_F(AdapterFinetuneTest, LowersTheValidationLossOfALlama) { expect_lower_loss("llama"); }

TEST_F(AdapterFinetuneTest, ResumesToTheBit) {
  for (const char* dtype : {"fp32", "bf16"}) {
    const std::vector<std::string> options = {"--dtype", dtype, "--lora-dropout", "0.1"};
    succeed(finetune("gpt2", options));
    fs::rename(folder_ / "run", folder_ / "straight");
    std::vector<std::string> half = finetune("gpt2", options);
    half.insert(half.end(), {"--steps", "5"});
    succeed(half);
    succeed({"finetune", "--resume", "run", "--steps", "12"});
    for (const char* file : {"last/adapter_model.safetensors", "last/adapter_config.json",
                             "last/optimizer.safetensors", "last/tokenizer.json"})
      EXPECT_EQ(content(folder_ / "run" / file), content(folder_ / "straight" / file)) << file;
    fs::remove_all(folder_ / "run");
    fs::remove_all(folder_ / "straight");
  }
}

TEST_F(AdapterFinetuneTest, GoesOnWithTheModelThatItBeganWithOnly) {
  succeed(finetune("gpt2", {"--steps", "4"}));
  const std::vector<std::string> resume = {"finetune", "--resume", "run", "--steps", "8"};
  std::string weights = content(folder_ / "gpt2/model.safetensors");
  const std::string before = weights;
  weights[weights.size() - 2] = static_cast<char>(weights[weights.size() - 2] ^ 1);
  std::ofstream(folder_ / "gpt2/model.safetensors", std::ios::binary) << weights;
  expect_error(resume, runtime_error_code, "its adapter belongs to another model than the one in");
  fs::rename(folder_ / "gpt2/model.safetensors", folder_ / "gpt2/elsewhere");
  expect_error(resume, runtime_error_code, "gpt2");
  std::ofstream(folder_ / "gpt2/model.safetensors", std::ios::binary) << before;
  expect_error({"finetune", "--resume", "run", "--steps", "8", "--set", "lora.rank=2"}, runtime_error_code,
               "its adapter has rank 4");
  succeed(resume);
}

TEST_F(AdapterFinetuneTest, WarnsOfARankThatNoMatrixHas) {
  const std::string warning = "warning lora.rank is 17, but no matrix of the model has a rank above 16";
  EXPECT_THAT(succeed(finetune("gpt2", {"--steps", "1", "--lora-rank", "17"})), HasSubstr(warning));
  fs::remove_all(folder_ / "run");
  EXPECT_THAT(succeed(finetune("gpt2", {"--steps", "1", "--lora-rank", "16"})), Not(HasSubstr("warning")));
}

TEST_F(AdapterFinetuneTest, SaysWhatDoesNotFit) {
  expect_error({"train", "--set", "lora.rank=4"}, usage_error_code, "lora.rank needs a model to adapt");
  for (const char* setting : {"lora.alpha=8", "lora.dropout=0.1", "lora.targets=c_attn"})
    expect_error(finetune("gpt2", {"--lora-rank", "0", "--set", "lora.targets=", "--set", setting}),
                 usage_error_code, "belong to an adapter; set lora.rank too");
  expect_error(finetune("gpt2", {"--freeze", "*.bias"}), usage_error_code, "leave out train.freeze");
  expect_error(finetune("gpt2", {"--lora-rank", "-1"}), usage_error_code, "lora.rank is -1");
  expect_error(finetune("gpt2", {"--lora-dropout", "1"}), usage_error_code, "lora.dropout is 1");
  expect_error(finetune("gpt2", {"--lora-targets", "c_attn,q_proj"}), runtime_error_code,
               "no linear layer is called 'q_proj'; there are c_attn, c_fc, c_proj");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  succeed(finetune("gpt2", {"--steps", "1"}));
  expect_error({"finetune", "--from", "run", "--text", "text.txt", "--out", "more"}, runtime_error_code,
               "holds an adapter; write the whole model with: cladtorch merge --from");
  expect_error({"eval", "--from", "gpt2", "--adapter", "", "--text", "text.txt"}, usage_error_code,
               "--adapter: the value is empty");
  set_first_number(folder_ / "run/best/adapter_model.safetensors", NAN);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"eval", "--text", "text.txt"}, {"generate"}, {"merge", "--out", "merged"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--from", "gpt2", "--adapter", "run"});
    expect_error(arguments, runtime_error_code, "holds numbers that are not finite; is the file damaged?");
  }
  EXPECT_FALSE(fs::exists(folder_ / "merged"));
}

}  // namespace
}  // namespace cladtorch::integration
