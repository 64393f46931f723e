#include "cladtorch/models/lora.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::random_tokens;
using testing::relative_difference;
using ::testing::ThrowsMessage;

std::unique_ptr<LanguageModel> toy_gpt2(DType dtype = DType::float32) {
  return as_language_model(GPT2(gpt2_preset("toy"), 3).to(dtype));
}
std::unique_ptr<LanguageModel> toy_llama(DType dtype = DType::float32) {
  return as_language_model(Llama(llama_preset("llama-toy"), 3).to(dtype));
}

Tensor parameter(const LanguageModel& model, const std::string& name) {
  for (const NamedTensor& p : model.parameters()) {
    if (p.name == name) return p.tensor;
  }
  return {};
}

/// Adapters that change something: B is zero at first.
void draw_adapters(LanguageModel& model, double deviation = 0.3) {
  Random random(29);
  for (NamedTensor& p : model.parameters()) {
    if (p.name.ends_with(".lora_B")) p.tensor.copy_from(normal(p.tensor.shape(), random, 0, deviation));
  }
}

TEST(LoRA, AdaptsTheLayersThatPeftWouldByDefault) {
  auto gpt2 = toy_gpt2(), llama = toy_llama();
  EXPECT_THAT(add_lora(gpt2, {}, 1), ElementsAre("h.0.attn.c_attn", "h.1.attn.c_attn"));
  EXPECT_THAT(add_lora(llama, {}, 1),
              ElementsAre("model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.v_proj",
                          "model.layers.1.self_attn.q_proj", "model.layers.1.self_attn.v_proj"));
  EXPECT_TRUE(has_lora(*gpt2));
  EXPECT_FALSE(has_lora(*toy_gpt2()));
  EXPECT_EQ(gpt2->parameter_count() - toy_gpt2()->parameter_count(), 2 * 8 * (32 + 96));
}

TEST(LoRA, AdaptsNamedLayersOrAllButTheOutput) {
  GPT2Config config = gpt2_preset("toy");
  config.tie_word_embeddings = false;
  auto gpt2 = as_language_model(GPT2(config));
  EXPECT_THAT(add_lora(gpt2, {.targets = {"all-linear"}}, 1),
              ElementsAre("h.0.attn.c_attn", "h.0.attn.c_proj", "h.0.mlp.c_fc", "h.0.mlp.c_proj",
                          "h.1.attn.c_attn", "h.1.attn.c_proj", "h.1.mlp.c_fc", "h.1.mlp.c_proj"));
  auto named = toy_gpt2();
  EXPECT_THAT(add_lora(named, {.targets = {"h.1.mlp.c_proj", "c_attn"}}, 1),
              ElementsAre("h.0.attn.c_attn", "h.1.attn.c_attn", "h.1.mlp.c_proj"));
  auto llama = toy_llama();
  EXPECT_EQ(add_lora(llama, {.targets = {"all-linear"}}, 1).size(), 2u * 7);
}

TEST(LoRA, RefusesWhatFitsNoLayerAndChangesNothing) {
  auto model = toy_gpt2();
  const auto error = [&](const LoRAConfig& config) {
    return testing::error_of([&] { add_lora(model, config, 1); });
  };
  EXPECT_EQ(error({.targets = {"c_attn", "q_proj"}}),
            "lora: no linear layer is called 'q_proj'; there are c_attn, c_fc, c_proj");
  EXPECT_THAT(error({.targets = {"lm_head"}}), HasSubstr("no linear layer is called 'lm_head'"));
  EXPECT_THAT(error({.targets = {"attn"}}), HasSubstr("no linear layer is called 'attn'"));
  EXPECT_THAT(error({.targets = {""}}), HasSubstr("no linear layer is called ''"));
  EXPECT_THAT(error({.targets = {"all-linear", "c_fc"}}), HasSubstr("stands alone"));
  EXPECT_THAT(error({.rank = 0}), HasSubstr("rank must be positive"));
  EXPECT_THAT(error({.alpha = NAN}), HasSubstr("alpha must be positive, got nan"));
  EXPECT_THAT(error({.dropout = 1}), HasSubstr("dropout must be in [0, 1)"));
  EXPECT_FALSE(has_lora(*model));
  add_lora(model, {}, 1);
  EXPECT_THAT(error({}), HasSubstr("has adapters already"));
}

TEST(LoRA, MakesTheHandleOneOnTheSameParameters) {
  auto model = toy_gpt2();
  const Tensor weight = parameter(*model, "h.0.attn.c_attn.weight");
  model->set_gradient_checkpointing(true);
  add_lora(model, {}, 1);
  EXPECT_EQ(model_if<GPT2>(*model), nullptr);
  ASSERT_NE(model_if<LoRAGPT2>(*model), nullptr);
  EXPECT_EQ(model->type(), "gpt2");
  ASSERT_NE(config_if<GPT2Config>(*model), nullptr);
  EXPECT_EQ(config_if<LlamaConfig>(*model), nullptr);
  EXPECT_TRUE(model->gradient_checkpointing());
  EXPECT_TRUE(parameter(*model, "h.0.attn.c_attn.weight").shares_storage_with(weight));
  remove_lora(model);
  ASSERT_NE(model_if<GPT2>(*model), nullptr);
  EXPECT_TRUE(model_if<GPT2>(*model)->h[0].attn.c_attn.weight.shares_storage_with(weight));
  remove_lora(model);
  EXPECT_NE(model_if<GPT2>(*model), nullptr) << "of a model without adapters it makes the same";
}

TEST(LoRA, RefusesAModelThatItsConfigDoesNotMake) {
  GPT2 changed(gpt2_preset("toy"), 3);
  changed.h[1].mlp.c_fc.bias = Tensor();
  auto model = as_language_model(changed);
  EXPECT_THAT(testing::error_of([&] { add_lora(model, {}, 1); }),
              HasSubstr("has the parameter h.1.mlp.c_fc.bias, but this one has not"));
  EXPECT_NE(model_if<GPT2>(*model), nullptr);
}

TEST(LoRA, AddsNothingAtFirstAndIsDrawnFromTheSeed) {
  auto model = toy_gpt2(), plain = toy_gpt2(), again = toy_gpt2(), other = toy_gpt2();
  const Tensor ids = random_tokens({2, 9}, 65, 1);
  add_lora(model, {.rank = 4}, 5);
  EXPECT_EQ(relative_difference(model->logits(ids), plain->logits(ids)), 0);
  const Tensor a = parameter(*model, "h.1.attn.c_attn.lora_A");
  ASSERT_EQ(a.shape(), (Shape{4, 32}));
  const double bound = 1 / std::sqrt(32.0);
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.data<float>()[i])));
    sum += static_cast<double>(a.data<float>()[i]);
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.9 * bound);
  EXPECT_LT(std::abs(sum), 4 * bound * std::sqrt(128 / 3.0));
  EXPECT_EQ(parameter(*model, "h.1.attn.c_attn.lora_B").shape(), (Shape{96, 4}));
  add_lora(again, {.rank = 4}, 5);
  add_lora(other, {.rank = 4}, 6);
  EXPECT_EQ(relative_difference(parameter(*again, "h.1.attn.c_attn.lora_A"), a), 0);
  EXPECT_GT(relative_difference(parameter(*other, "h.1.attn.c_attn.lora_A"), a), 0.1);
}

TEST(LoRA, ScalesByAlphaAndRank) {
  EXPECT_EQ((LoRAConfig{.rank = 16, .alpha = 32}.scale()), 2);
  EXPECT_EQ((LoRAConfig{.rank = 16, .alpha = 32, .use_rslora = true}.scale()), 8);
  auto model = toy_gpt2(DType::float64), plain = toy_gpt2(DType::float64);
  add_lora(model, {.rank = 4, .alpha = 2, .use_rslora = true, .targets = {"h.0.mlp.c_fc"}}, 5);
  draw_adapters(*model);
  const Tensor a = parameter(*model, "h.0.mlp.c_fc.lora_A"), b = parameter(*model, "h.0.mlp.c_fc.lora_B");
  Tensor weight = parameter(*plain, "h.0.mlp.c_fc.weight");
  weight.copy_from(weight + matmul(b, a));  // 2 / sqrt(4) is 1
  const Tensor ids = random_tokens({2, 9}, 65, 1);
  EXPECT_LT(relative_difference(model->logits(ids), plain->logits(ids)), 1e-13);
}

TEST(LoRA, MergedWeightsGiveTheScoresOfTheAdaptersAndAllElseStays) {
  for (const bool llama : {false, true}) {
    for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
      auto model = llama ? toy_llama(dtype) : toy_gpt2(dtype);
      const size_t before = model->parameters().size();
      add_lora(model, {.rank = 3, .alpha = 6, .targets = {"all-linear"}}, 5);
      draw_adapters(*model, 0.05);
      const Tensor ids = random_tokens({2, 9}, 65, 1), norm = model->parameters().back().tensor.clone();
      const Tensor expected = model->logits(ids);
      merge_lora(model);
      EXPECT_FALSE(has_lora(*model));
      EXPECT_TRUE(model_if<GPT2>(*model) || model_if<Llama>(*model));
      EXPECT_EQ(model->parameters().size(), before);
      EXPECT_EQ(relative_difference(model->parameters().back().tensor, norm), 0);
      const double tolerance = dtype == DType::float64 ? 1e-13 : dtype == DType::float32 ? 1e-5 : 0.05;
      EXPECT_LT(relative_difference(model->logits(ids), expected), tolerance) << llama << ' ' << dtype;
      EXPECT_GT(relative_difference((llama ? toy_llama(dtype) : toy_gpt2(dtype))->logits(ids), expected),
                0.1);
    }
  }
}

TEST(LoRA, DecodesWithACacheAsItRunsForward) {
  for (const bool llama : {false, true}) {
    auto model = llama ? toy_llama(DType::float64) : toy_gpt2(DType::float64);
    add_lora(model, {.targets = {"all-linear"}}, 5);
    draw_adapters(*model);
    const Tensor ids = random_tokens({1, 9}, 65, 1), expected = model->logits(ids);
    const auto cache = model->make_cache(1);
    for (int64_t t = 0; t < 9; ++t) {
      const Tensor scores = model->decode(ids.narrow(1, t, 1), *cache);
      EXPECT_LT(relative_difference(scores, expected.select(1, t)), 1e-13);
    }
  }
}

TEST(LoRA, GoesAlongToAnotherDtypeAndIntoTheGradient) {
  auto model = toy_gpt2();
  add_lora(model, {.rank = 4, .alpha = 12}, 5);
  draw_adapters(*model);
  const auto narrow = model->to(DType::bfloat16);
  EXPECT_EQ(parameter(*narrow, "h.0.attn.c_attn.lora_B").dtype(), DType::bfloat16);
  const Tensor ids = random_tokens({2, 9}, 65, 1);
  EXPECT_LT(relative_difference(narrow->logits(ids), model->logits(ids)), 0.05);
  const Tensor d = parameter(*narrow->gradient_like(), "h.0.attn.c_attn.lora_A");
  EXPECT_EQ(d.dtype(), DType::float32);
  EXPECT_TRUE(d.is_marked_zero());
}

}  // namespace
}  // namespace cladtorch
