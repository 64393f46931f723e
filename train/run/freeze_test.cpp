#include "cladtorch/train/freeze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<LanguageModel> gpt2() { return as_language_model(GPT2(gpt2_preset("toy"))); }

std::vector<std::string> trained(const LanguageModel& model) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : model.parameters())
    if (!parameter.tensor.is_frozen()) names.push_back(parameter.name);
  return names;
}

std::vector<std::string> trained_with(const TrainedParameters& which) {
  const auto model = gpt2();
  freeze_parameters(*model, which);
  return trained(*model);
}

std::string error_with(const TrainedParameters& which) {
  const auto model = gpt2();
  try {
    freeze_parameters(*model, which);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Freeze, NothingByDefault) {
  EXPECT_EQ(trained_with({}).size(), gpt2()->parameters().size());
  EXPECT_EQ(trained_with({.freeze = " , "}).size(), gpt2()->parameters().size());
}

TEST(Freeze, WhatPatternsMatchByNamesOfTheFileOrOurs) {
  const std::vector<std::string> blocks = {"h.1.ln_1.weight", "h.1.ln_1.bias"};
  EXPECT_EQ(
      trained_with({.freeze = "transformer.h.0.*, transformer.w*,transformer.h.1.[am]*,*.ln_2.*,*ln_f*"}),
      blocks);
  EXPECT_EQ(trained_with({.freeze = "w*,h.0.*,h.1.[!l]*,h.1.ln_2,ln_f"}), blocks);
  EXPECT_EQ(trained_with({.train_only = "h.1.ln_1"}), blocks);
  EXPECT_EQ(trained_with({.freeze = "*.ln_2", .train_only = "transformer.h.[1-3].ln_?"}), blocks);
}

TEST(Freeze, ABlockByItsNumberAlone) {
  GPT2Config config = gpt2_preset("toy");
  config.n_layer = 12;
  const auto model = as_language_model(GPT2(config));
  freeze_parameters(*model, {.train_only = "transformer.h.1"});
  for (const std::string& name : trained(*model)) EXPECT_TRUE(name.starts_with("h.1.")) << name;
  EXPECT_EQ(trained(*model).size(), 12u);
}

TEST(Freeze, KeepsWhatIsFrozenAlready) {
  const auto model = gpt2();
  freeze_parameters(*model, {.freeze = "ln_f.bias"});
  freeze_parameters(*model, {.train_only = "ln_f"});
  EXPECT_THAT(trained(*model), ElementsAre("ln_f.weight"));
}

TEST(Freeze, OfALlamaByItsNames) {
  const auto model = as_language_model(Llama(llama_preset("llama-toy")));
  freeze_parameters(*model, {.train_only = "model.layers.1.self_attn.[qk]_proj"});
  EXPECT_THAT(trained(*model), ElementsAre("model.layers.1.self_attn.q_proj.weight",
                                           "model.layers.1.self_attn.k_proj.weight"));
}

TEST(Freeze, APatternThatMatchesNothingNamesWhatIsClose) {
  EXPECT_EQ(
      error_with({.freeze = "transformer.wte,transformer.wpe.weigth"}),
      "train.freeze: no parameter matches 'transformer.wpe.weigth' (did you mean 'transformer.wpe.weight'?)");
  EXPECT_EQ(error_with({.train_only = "transfomer.h.0"}),
            "train.train_only: no parameter matches 'transfomer.h.0' (did you mean 'transformer.h.0'?)");
  EXPECT_EQ(error_with({.freeze = "encoder.*.self_attention"}),
            "train.freeze: no parameter matches 'encoder.*.self_attention'; names are like "
            "'transformer.wte.weight' and "
            "'transformer.ln_f.bias'");
  EXPECT_THAT(error_with({.freeze = "[a"}), HasSubstr("no parameter matches '[a'"));
}

TEST(Freeze, SomethingMustBeLeft) {
  EXPECT_EQ(error_with({.freeze = "*"}), "train.freeze and train.train_only leave no parameter to train");
  EXPECT_NE(error_with({.freeze = "h", .train_only = "h.0"}), "");
}

}  // namespace
}  // namespace cladtorch::train
