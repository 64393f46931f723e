#include "cladtorch/models/llama.h"

#include <gmock/gmock.h>

#include "models/llama/small_llama.h"
#include "tests/support/model_gradient.h"
#include "tests/support/model_values.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::random_tokens;
using testing::relative_difference;

int64_t parameters_of(const LlamaConfig& c) {
  const int64_t queries = c.num_attention_heads * c.head_size(), keys = c.key_heads() * c.head_size();
  const int64_t block = c.hidden_size * (2 * queries + 2 * keys + 3 * c.intermediate_size + 2);
  return (c.tie_word_embeddings ? 1 : 2) * c.vocab_size * c.hidden_size + c.num_hidden_layers * block +
         c.hidden_size;
}

TEST(Llama, PresetsHaveThePublishedSizes) {
  EXPECT_EQ(parameters_of(llama_preset("llama-3.2-1b")), 1235814400);
  EXPECT_EQ(parameters_of(llama_preset("llama-3.1-8b")), 8030261248);
  EXPECT_EQ(parameters_of(llama_preset("mistral-7b")), 7241732096);
  EXPECT_EQ(parameters_of(llama_preset("tinyllama-1.1b")), 1100048384);
  EXPECT_EQ(parameters_of(llama_preset("smollm2-135m")), 134515008);
  const LlamaConfig toy = llama_preset("llama-toy");
  EXPECT_EQ(parameter_count(Llama(toy)), parameters_of(toy));
  EXPECT_THAT(error_of([] { llama_preset("llama-9"); }),
              ::testing::StartsWith("llama_preset: unknown model 'llama-9'; known are llama-3.2-1b, "));
}

TEST(Llama, ParametersHaveTheNamesOfHuggingFaceCheckpoints) {
  LlamaConfig config = llama_preset("llama-toy");
  config.num_hidden_layers = 1;
  config.attention_bias = true;
  const auto names = [&] {
    std::vector<std::string> all;
    const Llama model(config);
    for_each_parameter(model, [&](const std::string& name, const Tensor&) { all.push_back(name); });
    return all;
  };
  const std::string attention = "model.layers.0.self_attn.", mlp = "model.layers.0.mlp.";
  EXPECT_THAT(names(),
              ::testing::ElementsAre(
                  "model.embed_tokens.weight", attention + "q_proj.weight", attention + "q_proj.bias",
                  attention + "k_proj.weight", attention + "k_proj.bias", attention + "v_proj.weight",
                  attention + "v_proj.bias", attention + "o_proj.weight", attention + "o_proj.bias",
                  mlp + "gate_proj.weight", mlp + "up_proj.weight", mlp + "down_proj.weight",
                  "model.layers.0.input_layernorm.weight", "model.layers.0.post_attention_layernorm.weight",
                  "model.norm.weight", "lm_head.weight"));
  config.tie_word_embeddings = true;
  EXPECT_THAT(names(), ::testing::Not(::testing::Contains("lm_head.weight")));
}

TEST(Llama, WrongConfigurationsAreNamed) {
  const auto message = [](auto change) {
    LlamaConfig config = llama_preset("llama-toy");
    change(config);
    return error_of([&] { Llama model(config); });
  };
  EXPECT_EQ(message([](LlamaConfig& c) { c.num_key_value_heads = 3; }),
            "LlamaConfig: num_key_value_heads must divide num_attention_heads, got 3 and 4");
  EXPECT_EQ(
      message([](LlamaConfig& c) { c.hidden_size = 30; }),
      "LlamaConfig: without head_dim, hidden_size must be a multiple of num_attention_heads, got 30 and 4");
  EXPECT_EQ(message([](LlamaConfig& c) { c.head_dim = 7; }),
            "LlamaConfig: the size of a head must be even, got 7");
  EXPECT_EQ(message([](LlamaConfig& c) { c.num_hidden_layers = 0; }),
            "LlamaConfig: num_hidden_layers must be positive, got 0");
  EXPECT_EQ(message([](LlamaConfig& c) { c.rope.theta = -1; }),
            "RotaryConfig: theta must be positive, got -1");
  EXPECT_EQ(message([](LlamaConfig& c) { c.dtype = DType::int32; }),
            "LlamaConfig: dtype must be float32, float64 or bfloat16, got int32");
}

TEST(Llama, IsInitializedAsInTransformers) {
  LlamaConfig config = llama_preset("llama-toy");
  config.hidden_size = 128;
  config.mlp_bias = true;
  const Llama model(config);
  const auto deviation = [](const Tensor& x) { return std::sqrt(mean(x * x).item()); };
  const nn::LlamaBlock& block = model.model.layers[1];
  for (const Tensor& weight :
       {model.model.embed_tokens.weight, model.lm_head.weight, block.mlp.down_proj.weight,
        block.self_attn.o_proj.weight, block.self_attn.k_proj.weight})
    EXPECT_NEAR(deviation(weight), 0.02, 0.001);
  EXPECT_EQ(deviation(block.input_layernorm.weight), 1);
  EXPECT_EQ(deviation(block.mlp.up_proj.bias), 0);
  EXPECT_NEAR(loss(model, random_tokens({2, 64}, 65, 1), random_tokens({2, 64}, 65, 2)), std::log(65.0), 0.1);
}

TEST(Llama, TheSameSeedGivesTheSameModelInFloatAndDouble) {
  LlamaConfig config = llama_preset("llama-toy");
  const Llama single(config, 3);
  config.dtype = DType::float64;
  const Llama exact(config, 3);
  testing::expect_the_same_values(single, exact);
}

TEST(Llama, SequencesThatDoNotFitAreNamed) {
  const Llama model(llama_preset("llama-toy"));
  EXPECT_EQ(error_of([&] { model.logits(random_tokens({1, 65}, 65, 1)); }),
            "Llama: 65 tokens exceed max_position_embeddings = 64");
  EXPECT_EQ(error_of([&] { model.logits(random_tokens({5}, 65, 1)); }),
            "Llama: expected token ids [B, T], got [5]");
}

TEST(Llama, DecodingWithACacheEqualsTheForwardPass) {
  for (LlamaConfig config : testing::odd_llamas()) {
    config.max_position_embeddings = 150;  // the cache grows twice
    const Llama model = testing::perturbed(Llama(config));
    LlamaCache cache(config, 2);
    testing::expect_decoding_equals_the_forward_pass(model, cache, 140, 1e-12);
    EXPECT_EQ(error_of([&] { model.decode(random_tokens({2, 20}, 11, 1), cache); }),
              "Llama::decode: 140 cached and 20 new tokens exceed max_position_embeddings = 150");
  }
}

TEST(Llama, AWindowHidesWhatLiesBeforeIt) {
  LlamaConfig config = testing::small_llama(DType::float64, 1);
  config.sliding_window = 3;
  const Llama model = testing::perturbed(Llama(config));
  Tensor tokens = random_tokens({1, 8}, 11, 1);
  const Tensor before = model.logits(tokens);
  tokens.data<int32_t>()[2] = (tokens.data<int32_t>()[2] + 1) % 11;
  const Tensor after = model.logits(tokens);
  for (int64_t t = 0; t < 8; ++t) {
    const double difference = relative_difference(after.select(1, t), before.select(1, t));
    EXPECT_EQ(difference != 0, t >= 2 && t < 5) << t;
  }
}

TEST(Llama, ConvertedToBfloat16ItDecodesAsItScores) {
  const Llama wide(llama_preset("llama-toy"), 3), narrow = wide.to(DType::bfloat16);
  EXPECT_TRUE(wide.to(DType::float32).lm_head.weight.shares_storage_with(wide.lm_head.weight));
  testing::expect_bfloat16_near_float32<LlamaCache>(wide, narrow);
}

TEST(Llama, CountsTheArithmeticOfAToken) {
  LlamaConfig config = llama_preset("llama-toy");
  const double matrices = double(parameters_of(config) - 65 * 32 - 5 * 32);  // no lookup, no norms
  EXPECT_DOUBLE_EQ(flops_per_token(config, 0), 6 * matrices);
  EXPECT_DOUBLE_EQ(flops_per_token(config, 64), 6 * (matrices + 2 * 32 * 64));
  config.sliding_window = 64;
  EXPECT_DOUBLE_EQ(flops_per_token(config, 64), 6 * (matrices + 2 * 32 * 64));
  config.sliding_window = 1;
  EXPECT_LT(flops_per_token(config, 64), 6 * (matrices + 2 * 32 * 2));
}

}  // namespace
}  // namespace cladtorch
