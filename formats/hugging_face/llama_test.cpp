// config.json of Llama and Mistral in the forms that versions of transformers write.
#include "cladtorch/models/llama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/safetensors.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

using io::error_of;
using testing::HasSubstr;

LlamaConfig toy_config() {
  LlamaConfig config = llama_preset("llama-toy");
  config.num_hidden_layers = 1;
  return config;
}

/// A folder with a Llama whose config.json has some keys changed.
class LlamaFolder : public testing::Test {
 protected:
  void save(const LlamaConfig& config) { save_model(*as_language_model(Llama(config, 9)), folder_.path()); }

  void edit(const io::Json& changes, const std::vector<std::string>& removed = {}) {
    io::Json config = io::read_json(folder_ / "config.json");
    for (const std::string& key : removed) config.erase(key);
    config.update(changes);
    io::write_json(folder_ / "config.json", config);
  }
  LlamaConfig read() { return model_if<Llama>(*load_model(folder_.path()))->config; }
  LlamaConfig read_with(const io::Json& changes, const std::vector<std::string>& removed = {}) {
    edit(changes, removed);
    return read();
  }
  std::string error_with(const io::Json& changes) {
    const io::Json before = io::read_json(folder_ / "config.json");
    edit(changes);
    const std::string message = error_of([&] { load_model(folder_.path()); });
    io::write_json(folder_ / "config.json", before);
    return message;
  }

  io::TemporaryFolder folder_;
};

TEST_F(LlamaFolder, IsReadBackWithAllThatItsConfigurationSays) {
  for (const bool tied : {true, false}) {
    for (const RotaryConfig& rope :
         {RotaryConfig{.theta = 500}, RotaryConfig{.scaling = RotaryScaling::linear, .factor = 3},
          RotaryConfig{.scaling = RotaryScaling::llama3,
                       .factor = 8,
                       .low_frequency_factor = 2,
                       .high_frequency_factor = 5,
                       .original_positions = 32},
          RotaryConfig{.scaling = RotaryScaling::dynamic, .factor = 3},
          RotaryConfig{.scaling = RotaryScaling::yarn,
                       .factor = 4,
                       .original_positions = 16,
                       .beta_fast = 5,
                       .beta_slow = 0.5,
                       .truncate = false,
                       .attention_factor = 1.3},
          RotaryConfig{.scaling = RotaryScaling::yarn, .factor = 4, .original_positions = 16}}) {
      LlamaConfig config = toy_config();
      config.tie_word_embeddings = tied;
      config.attention_bias = !tied;
      config.mlp_bias = tied;
      config.head_dim = 6;
      config.rms_norm_eps = 1e-3;
      config.rope = rope;
      save(config);
      const LlamaConfig found = read();
      EXPECT_EQ(config_json(*as_language_model(Llama(found))),
                config_json(*as_language_model(Llama(config))));
      EXPECT_EQ(found.rope.theta, rope.theta);
      EXPECT_EQ(found.rope.scaling, rope.scaling);
      EXPECT_EQ(found.head_dim, 6);
      EXPECT_EQ(found.attention_bias, !tied);
    }
  }
}

TEST_F(LlamaFolder, HasTransformersNamesAndTakesThoseOfAModelWithoutItsHead) {
  LlamaConfig config = toy_config();
  config.tie_word_embeddings = true;
  save(config);
  const io::SafetensorsFile file(folder_ / "model.safetensors");
  EXPECT_EQ(file.at("model.layers.0.self_attn.k_proj.weight").shape, (std::vector<int64_t>{16, 32}));
  EXPECT_EQ(file.at("model.layers.0.mlp.down_proj.weight").shape, (std::vector<int64_t>{32, 88}));
  EXPECT_FALSE(file.contains("lm_head.weight"));
  const auto expected = load_model(folder_.path());
  std::vector<std::pair<std::string, io::StoredTensor>> tensors;
  for (const auto& [name, stored] : file.tensors()) tensors.emplace_back(name.substr(6), stored);
  const float leftover[3] = {};
  tensors.emplace_back("layers.0.self_attn.rotary_emb.inv_freq",
                       io::StoredTensor{io::StoredType::f32, {3}, std::as_bytes(std::span(leftover))});
  io::write_safetensors(folder_ / "model.safetensors", tensors);
  const auto found = load_model(folder_.path());
  for (size_t i = 0; i < expected->parameters().size(); ++i) {
    const Tensor a = expected->parameters()[i].tensor, b = found->parameters()[i].tensor;
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.nbytes()), 0);
  }
}

TEST_F(LlamaFolder, TakesTheRotaryParametersOfOldAndNewVersions) {
  save(toy_config());
  LlamaConfig config = read_with({{"rope_theta", 700.0}, {"rope_scaling", nullptr}});
  EXPECT_EQ(config.rope.theta, 700);
  EXPECT_EQ(config.rope.scaling, RotaryScaling::none);
  config = read_with({{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}}}});
  EXPECT_EQ(config.rope.theta, 700);
  EXPECT_EQ(config.rope.scaling, RotaryScaling::linear);
  EXPECT_EQ(config.rope.factor, 4);
  config = read_with({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 900.0}}}},
                     {"rope_theta", "rope_scaling"});
  EXPECT_EQ(config.rope.theta, 900);
  EXPECT_EQ(config.rope.scaling, RotaryScaling::none);
  config = read_with({{"rope_parameters",
                       {{"rope_type", "llama3"},
                        {"rope_theta", 500000.0},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0}}}});
  EXPECT_EQ(config.rope.theta, 500000);
  EXPECT_EQ(config.rope.scaling, RotaryScaling::llama3);
  EXPECT_EQ(config.rope.original_positions, config.max_position_embeddings);
  config = read_with(io::Json::object(), {"rope_parameters"});
  EXPECT_EQ(config.rope.theta, 10000);
}

TEST_F(LlamaFolder, HasTransformersDefaultsWhereKeysAreAbsent) {
  LlamaConfig config = toy_config();
  config.num_key_value_heads = 0;
  save(config);
  config = read_with({{"num_key_value_heads", nullptr}, {"head_dim", nullptr}},
                     {"max_position_embeddings", "rms_norm_eps", "hidden_act", "attention_bias"});
  EXPECT_EQ(config.key_heads(), 4);
  EXPECT_EQ(config.head_size(), 8);
  EXPECT_EQ(config.max_position_embeddings, 2048);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  config = read_with({{"model_type", "mistral"}});
  EXPECT_EQ(config.sliding_window, 4096);
  EXPECT_EQ(config.max_position_embeddings, 131072);
  EXPECT_EQ(read_with({{"sliding_window", nullptr}}).sliding_window, 0);
}

TEST_F(LlamaFolder, StaysAMistralWithoutAWindow) {
  save(toy_config());
  edit({{"model_type", "mistral"}, {"sliding_window", nullptr}}, {"attention_bias", "mlp_bias"});
  const auto model = load_model(folder_.path());
  EXPECT_EQ(model->type(), "mistral");
  const io::TemporaryFolder copy;
  save_model(*model, copy.path());
  const io::Json config = io::read_json(copy / "config.json");
  EXPECT_EQ(config["model_type"], "mistral");
  EXPECT_EQ(config["architectures"], io::Json::array({"MistralForCausalLM"}));
  EXPECT_TRUE(config["sliding_window"].is_null());
  EXPECT_EQ(difference(folder_.path(), *model), "");
}

TEST_F(LlamaFolder, TakesTheParametersOfYarnWithTransformersDefaults) {
  LlamaConfig toy = toy_config();
  toy.max_position_embeddings = 64;
  save(toy);
  const auto yarn = [&](const io::Json& more, const io::Json& top = io::Json::object()) {
    io::Json rope = {{"rope_type", "yarn"}, {"factor", 4.0}};
    rope.update(more);
    io::Json changes = {{"rope_scaling", rope}};
    changes.update(top);
    return changes;
  };
  RotaryConfig rope = read_with(yarn(io::Json::object())).rope;
  EXPECT_EQ(rope.scaling, RotaryScaling::yarn);
  EXPECT_EQ(rope.original_positions, 64);
  EXPECT_EQ(rope.beta_fast, 32);
  EXPECT_EQ(rope.beta_slow, 1);
  EXPECT_TRUE(rope.truncate);
  EXPECT_EQ(rope.attention_factor, 0);
  rope = read_with(yarn({{"factor", nullptr},
                         {"original_max_position_embeddings", 16},
                         {"beta_fast", 8},
                         {"beta_slow", 0},
                         {"truncate", false},
                         {"mscale", 0.7}}))
             .rope;
  EXPECT_EQ(rope.factor, 4);
  EXPECT_EQ(rope.original_positions, 16);
  EXPECT_EQ(rope.beta_fast, 8);
  EXPECT_EQ(rope.beta_slow, 1);
  EXPECT_FALSE(rope.truncate);
  EXPECT_EQ(rope.attention_factor, 0) << "mscale counts with mscale_all_dim alone";
  const io::Json scales = {{"mscale", 0.7}, {"mscale_all_dim", 1.5}};
  rope = read_with(yarn(scales)).rope;
  EXPECT_NEAR(rope.attention_factor, (0.07 * std::log(4) + 1) / (0.15 * std::log(4) + 1), 1e-12);
  io::Json both = scales;
  both["attention_factor"] = 0.9;
  EXPECT_EQ(read_with(yarn(both)).rope.attention_factor, 0.9);
  EXPECT_THAT(error_with(yarn({{"attention_factor", 0}})),
              HasSubstr("attention_factor must be positive, got 0"));
  EXPECT_THAT(error_with(yarn({{"beta_fast", -1}})), HasSubstr("beta_fast must be above 0 for yarn, got -1"));
  EXPECT_THAT(error_with(yarn({{"factor", nullptr}, {"original_max_position_embeddings", 0}})),
              HasSubstr("config.json"));
  EXPECT_THAT(error_with({{"rope_scaling", {{"rope_type", "yarn"}}}}), HasSubstr("'factor' is missing"));
  rope =
      read_with(yarn({{"original_max_position_embeddings", 16}}, {{"original_max_position_embeddings", 32}}))
          .rope;
  EXPECT_EQ(rope.original_positions, 32) << "as in transformers, beside the parameters it counts more";
}

TEST_F(LlamaFolder, IsAMistralWhereItHasAWindow) {
  LlamaConfig config = toy_config();
  config.sliding_window = 7;
  save(config);
  EXPECT_EQ(io::read_json(folder_ / "config.json")["model_type"], "mistral");
  EXPECT_EQ(read().sliding_window, 7);
  EXPECT_EQ(load_model(folder_.path())->type(), "mistral");
  config.mlp_bias = true;
  EXPECT_THAT(error_of([&] { save(config); }), HasSubstr("no Mistral with biases"));
}

TEST_F(LlamaFolder, RefusesWhatIsNotImplemented) {
  save(toy_config());
  EXPECT_EQ(error_with(io::Json::object()), "");
  EXPECT_THAT(error_with({{"hidden_act", "gelu"}}), HasSubstr("hidden_act is 'gelu'"));
  for (const char* type : {"longrope", "su", "proportional"}) {
    const std::string message =
        std::string("rope_type is '") + type +
        "', which is not implemented; known are default, linear, dynamic, llama3 and yarn";
    EXPECT_THAT(error_with({{"rope_scaling", {{"rope_type", type}, {"factor", 2.0}}}}), HasSubstr(message));
    EXPECT_THAT(error_with({{"rope_scaling", {{"type", type}, {"factor", 2.0}}}}), HasSubstr(message));
    EXPECT_THAT(error_with({{"rope_parameters", {{"rope_type", type}, {"rope_theta", 1e4}}}}),
                HasSubstr(message));
  }
  EXPECT_THAT(error_with({{"quantization_config", {{"quant_method", "awq"}, {"bits", 4}}}}),
              HasSubstr("quantization_config says that the weights are quantized"));
  EXPECT_THAT(error_with({{"rope_scaling", {{"rope_type", "linear"}}}}), HasSubstr("'factor' is missing"));
  EXPECT_THAT(error_with({{"rope_scaling", 3}}), HasSubstr("rope_scaling is 3, expected an object"));
  EXPECT_THAT(error_with({{"is_causal", false}}), HasSubstr("is_causal is false, which is not implemented"));
  EXPECT_THAT(error_with({{"partial_rotary_factor", 0.5}}), HasSubstr("partial_rotary_factor is 0.5"));
  EXPECT_THAT(error_with({{"num_key_value_heads", 3}}), HasSubstr("num_key_value_heads must divide"));
  EXPECT_THAT(error_with({{"head_dim", 5}}), HasSubstr("config.json"));
  EXPECT_THAT(error_with({{"intermediate_size", int64_t{1} << 60}}), HasSubstr("describes a model of"));
  EXPECT_THAT(error_with({{"num_hidden_layers", 1'000'000'000'000}}), HasSubstr("describes a model of"));
  EXPECT_THAT(error_with({{"head_dim", int64_t{1} << 62}}), HasSubstr("config.json"));
  EXPECT_THAT(error_with({{"vocab_size", 66}}), HasSubstr("'model.embed_tokens.weight' is [65,32]"));
  EXPECT_THAT(error_with({{"tie_word_embeddings", true}}),
              HasSubstr("'lm_head.weight' differs from the embeddings"));
}

}  // namespace
}  // namespace cladtorch::formats
