#include "cladtorch/models/gpt2.h"

#include <gmock/gmock.h>

#include "tests/support/model_values.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::random_tokens;
using testing::relative_difference;

TEST(GPT2, PresetsHaveThePublishedSizes) {
  const auto parameters = [](const GPT2Config& c) {
    const int64_t block = 12 * c.n_embd * c.n_embd + 13 * c.n_embd;
    return (c.vocab_size + c.n_positions) * c.n_embd + c.n_layer * block + 2 * c.n_embd;
  };
  EXPECT_EQ(parameters(gpt2_preset("gpt2")), 124439808);
  EXPECT_EQ(parameters(gpt2_preset("gpt2-medium")), 354823168);
  EXPECT_EQ(parameters(gpt2_preset("gpt2-large")), 774030080);
  EXPECT_EQ(parameters(gpt2_preset("gpt2-xl")), 1557611200);
  EXPECT_EQ(parameter_count(GPT2(gpt2_preset("toy"))), parameters(gpt2_preset("toy")));
  EXPECT_EQ(error_of([] { gpt2_preset("gpt3"); }),
            "gpt2_preset: unknown model 'gpt3'; known are gpt2, gpt2-medium, gpt2-large, gpt2-xl, toy");
}

TEST(GPT2, WrongConfigurationsAreNamed) {
  GPT2Config config = gpt2_preset("toy");
  config.n_head = 5;
  EXPECT_EQ(error_of([&] { GPT2 model(config); }),
            "GPT2Config: n_embd must be a multiple of n_head, got 32 and 5");
  config.n_layer = 0;
  EXPECT_EQ(error_of([&] { GPT2 model(config); }), "GPT2Config: n_layer must be positive, got 0");
}

TEST(GPT2, InitializationScalesResidualProjections) {
  GPT2Config config = gpt2_preset("toy");
  config.n_embd = 128;
  config.n_layer = 8;
  const GPT2 model(config);
  const auto deviation = [](const Tensor& x) { return std::sqrt(mean(x * x).item()); };
  EXPECT_NEAR(deviation(model.wte.weight), 0.02, 0.001);
  EXPECT_NEAR(deviation(model.h[3].mlp.c_fc.weight), 0.02, 0.001);
  EXPECT_NEAR(deviation(model.h[3].mlp.c_proj.weight), 0.02 / 4, 0.0002);
  EXPECT_NEAR(deviation(model.h[3].attn.c_proj.weight), 0.02 / 4, 0.0002);
  EXPECT_EQ(deviation(model.h[3].ln_1.weight), 1);
  EXPECT_EQ(deviation(model.h[3].mlp.c_fc.bias), 0);
}

TEST(GPT2, AFreshModelKnowsNothing) {
  const GPT2 model(gpt2_preset("toy"));
  const Tensor tokens = random_tokens({2, 64}, 65, 1), targets = random_tokens({2, 64}, 65, 2);
  EXPECT_EQ(model.logits(tokens).shape(), (Shape{2, 64, 65}));
  EXPECT_NEAR(loss(model, tokens, targets), std::log(65.0), 0.1);
}

TEST(GPT2, TheSameSeedGivesTheSameModelInFloatAndDouble) {
  GPT2Config config = gpt2_preset("toy");
  const GPT2 single(config, 3);
  config.dtype = DType::float64;
  const GPT2 exact(config, 3);
  testing::expect_the_same_values(single, exact);
}

TEST(GPT2, SequencesThatDoNotFitAreNamed) {
  const GPT2 model(gpt2_preset("toy"));
  EXPECT_EQ(error_of([&] { model.logits(random_tokens({1, 65}, 65, 1)); }),
            "GPT2: 65 tokens exceed n_positions = 64");
  EXPECT_EQ(error_of([&] { model.logits(random_tokens({5}, 65, 1)); }),
            "GPT2: expected token ids [B, T], got [5]");
}

TEST(GPT2, WithoutBiasHasNoBiasParameters) {
  GPT2Config config = gpt2_preset("toy");
  config.bias = false;
  const GPT2 model(config);
  for_each_parameter(model, [](const std::string& name, const Tensor&) {
    EXPECT_THAT(name, ::testing::Not(::testing::HasSubstr("bias")));
  });
  EXPECT_GT(loss(model, random_tokens({1, 4}, 65, 1), random_tokens({1, 4}, 65, 2)), 0);
}

TEST(GPT2, DecodingWithACacheEqualsTheForwardPass) {
  GPT2Config config = gpt2_preset("toy");
  config.dtype = DType::float64;
  const GPT2 model(config);
  KVCache cache(config, 2);
  testing::expect_decoding_equals_the_forward_pass(model, cache, 10, 1e-13);
  EXPECT_EQ(error_of([&] { model.decode(random_tokens({2, 60}, 65, 1), cache); }),
            "GPT2::decode: 10 cached and 60 new tokens exceed n_positions = 64");
}

TEST(GPT2, DecodesWithOtherScalesOfAttentionAsItScores) {
  for (const bool by_root : {false, true}) {
    GPT2Config config = gpt2_preset("toy");
    config.dtype = DType::float64;
    const Tensor tokens = random_tokens({2, 7}, 65, 1), original = GPT2(config).logits(tokens);
    config.scale_attn_weights = by_root;
    config.scale_attn_by_inverse_layer_idx = true;
    EXPECT_NEAR(config.score_factor(1), by_root ? 0.5 : std::sqrt(8) / 2, 1e-15);
    const GPT2 model(config);
    EXPECT_GT(relative_difference(model.logits(tokens), original), 1e-7);
    KVCache cache(config, 2);
    testing::expect_decoding_equals_the_forward_pass(model, cache, 10, 1e-13);
  }
}

TEST(GPT2, ConvertedToBfloat16ItHasRoundedParametersAndDecodesAsItScores) {
  const GPT2 wide(gpt2_preset("toy"), 3), narrow = wide.to(DType::bfloat16);
  EXPECT_TRUE(wide.to(DType::float32).wte.weight.shares_storage_with(wide.wte.weight));
  GPT2Config config = gpt2_preset("toy");
  config.dtype = DType::bfloat16;
  const GPT2 drawn(config, 3);
  std::vector<Tensor> expected;
  for_each_parameter(narrow, [&](const std::string&, const Tensor& p) { expected.push_back(p); });
  size_t index = 0;
  for_each_parameter(drawn, [&](const std::string& name, const Tensor& p) {
    EXPECT_EQ(relative_difference(p, expected[index++]), 0) << name;
  });
  testing::expect_bfloat16_near_float32<KVCache>(wide, narrow);
}

TEST(GPT2, CountsItsArithmetic) {
  GPT2Config config;
  config.vocab_size = 50304;
  EXPECT_NEAR(flops_per_token(config, 1024) * 4096, 3269e9, 1e9);
  EXPECT_NEAR(flops_per_token(config, 64) * 256, 190.7e9, 0.1e9);
}

TEST(GPT2, HasAnOutputLayerOfItsOwnWhereTheEmbeddingsAreNotTied) {
  GPT2Config config = gpt2_preset("toy");
  const GPT2 tied(config, 3);
  config.tie_word_embeddings = false;
  const GPT2 untied(config, 3);
  EXPECT_EQ(parameter_count(untied), parameter_count(tied) + 65 * 32);
  EXPECT_EQ(named_parameters(untied).back().name, "lm_head.weight");
  const Tensor ids = random_tokens({2, 9}, 65, 1);
  EXPECT_EQ(relative_difference(untied.forward(ids), tied.forward(ids)), 0);
  EXPECT_EQ(relative_difference(untied.logits(ids), linear(untied.forward(ids), untied.lm_head.weight)), 0);
  EXPECT_EQ(relative_difference(tied.logits(ids), linear(tied.forward(ids), tied.wte.weight)), 0);
  KVCache cache(config, 2);
  EXPECT_LT(relative_difference(untied.decode(ids, cache), untied.logits(ids).select(1, 8)), 1e-5);
}

}  // namespace
}  // namespace cladtorch
