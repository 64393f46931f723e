#include "cladtorch/formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cladtorch/formats/hugging_face.h"
#include "io/temporary_folder.h"
#include "models/llama/small_llama.h"
#include "tests/support/gguf_contents.h"
#include "tests/support/model_gradient.h"

namespace cladtorch::formats {
namespace {

using io::error_of;
using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::GgufContents;

std::vector<float> floats(const std::string& data, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
  return values;
}

struct Gguf : ::testing::Test {
  GgufContents exported(io::StoredType type) {
    vocabulary = save_gguf(*model, folder / "m.gguf", type, folder.path());
    return GgufContents(folder.read("m.gguf"));
  }

  /// A vocabulary of three bytes, one merge and an end of text, for a model of six tokens.
  void write_tokenizer(const std::string& pre_tokenizer, const std::string& merge = R"(["a","b"])") {
    folder.write("tokenizer.json",
                 R"({"pre_tokenizer":)" + pre_tokenizer +
                     R"(,"model":{"type":"BPE","vocab":{"a":0,"b":1,"Ġ":2,"ab":3},"merges":[)" + merge +
                     R"(]},"added_tokens":[{"id":4,"content":"<|end|>","special":true}]})");
    folder.write("config.json", R"({"bos_token_id":4,"eos_token_id":[4,5],"pad_token_id":null})");
  }

  const TemporaryFolder folder;
  const GPT2Config config = {.vocab_size = 6, .n_positions = 5, .n_layer = 2, .n_head = 2, .n_embd = 4};
  std::unique_ptr<LanguageModel> model = as_language_model(GPT2(config));
  bool vocabulary = false;
};

TEST_F(Gguf, NamesAndDescribesAGpt2AsLlamaCppDoes) {
  const GgufContents file = exported(io::StoredType::f16);
  EXPECT_FALSE(vocabulary);
  EXPECT_EQ(file.strings.at("general.architecture"), "gpt2");
  EXPECT_EQ(file.counts.at("general.file_type"), 1u);
  EXPECT_EQ(file.counts.at("gpt2.block_count"), 2u);
  EXPECT_EQ(file.counts.at("gpt2.context_length"), 5u);
  EXPECT_EQ(file.counts.at("gpt2.embedding_length"), 4u);
  EXPECT_EQ(file.counts.at("gpt2.feed_forward_length"), 16u);
  EXPECT_EQ(file.counts.at("gpt2.attention.head_count"), 2u);
  EXPECT_EQ(file.reals.at("gpt2.attention.layer_norm_epsilon"), 1e-5f);
  EXPECT_EQ(file.tensors.size(), 4u + 2 * 12);
  EXPECT_THAT(file.tensors.at("token_embd.weight").dimensions, ElementsAre(4, 6));
  EXPECT_THAT(file.tensors.at("blk.1.attn_qkv.weight").dimensions, ElementsAre(4, 12));
  EXPECT_THAT(file.tensors.at("blk.1.ffn_up.weight").dimensions, ElementsAre(4, 16));
  EXPECT_THAT(file.tensors.at("blk.1.ffn_down.weight").dimensions, ElementsAre(16, 4));
  for (const auto& [name, tensor] : file.tensors) {
    const bool matrix = tensor.dimensions.size() == 2 && name != "position_embd.weight";
    EXPECT_EQ(tensor.type, matrix ? 1u : 0u) << name;
  }
}

TEST_F(Gguf, HoldsTheWeights) {
  const GgufContents file = exported(io::StoredType::f32);
  const GPT2& gpt2 = *model_if<GPT2>(*model);
  const auto same = [&](const char* name, const Tensor& weight) {
    const std::vector<float> stored = floats(file.tensors.at(name).data, weight.numel());
    return std::equal(stored.begin(), stored.end(), weight.data<float>());
  };
  EXPECT_TRUE(same("token_embd.weight", gpt2.wte.weight));
  EXPECT_TRUE(same("position_embd.weight", gpt2.wpe.weight));
  EXPECT_TRUE(same("blk.0.attn_output.weight", gpt2.h[0].attn.c_proj.weight));
  EXPECT_TRUE(same("blk.1.attn_qkv.weight", gpt2.h[1].attn.c_attn.weight));
  EXPECT_TRUE(same("blk.1.ffn_norm.weight", gpt2.h[1].ln_2.weight));
  EXPECT_TRUE(same("output_norm.bias", gpt2.ln_f.bias));
}

TEST_F(Gguf, RefusesAGpt2ThatLlamaCppDoesNotHave) {
  const auto refusal = [&](auto change) {
    GPT2Config changed = config;
    change(changed);
    model = as_language_model(GPT2(changed));
    return error_of([&] { exported(io::StoredType::f32); });
  };
  EXPECT_THAT(refusal([](GPT2Config& c) { c.activation = nn::Activation::gelu_erf; }),
              HasSubstr("has the activation gelu_new, but this model has gelu"));
  EXPECT_THAT(refusal([](GPT2Config& c) { c.scale_attn_weights = false; }),
              HasSubstr("no scale_attn_weights"));
  EXPECT_THAT(refusal([](GPT2Config& c) { c.scale_attn_by_inverse_layer_idx = true; }),
              HasSubstr("has scale_attn_by_inverse_layer_idx"));
}

TEST_F(Gguf, TakesAByteLevelTokenizerAlong) {
  for (const char* merge : {R"(["a","b"])", R"("a b")"}) {
    write_tokenizer(R"({"type":"ByteLevel","use_regex":true})", merge);
    const GgufContents file = exported(io::StoredType::bf16);
    EXPECT_TRUE(vocabulary);
    EXPECT_EQ(file.counts.at("general.file_type"), 32u);
    EXPECT_EQ(file.strings.at("tokenizer.ggml.model"), "gpt2");
    EXPECT_EQ(file.strings.at("tokenizer.ggml.pre"), "gpt-2");
    EXPECT_THAT(file.lists.at("tokenizer.ggml.tokens"),
                ElementsAre("a", "b", "Ġ", "ab", "<|end|>", "[PAD5]"));
    EXPECT_THAT(file.numbers.at("tokenizer.ggml.token_type"), ElementsAre(1, 1, 1, 1, 3, 5));
    EXPECT_THAT(file.lists.at("tokenizer.ggml.merges"), ElementsAre("a b"));
    EXPECT_EQ(file.counts.at("tokenizer.ggml.bos_token_id"), 4u);
    EXPECT_EQ(file.counts.at("tokenizer.ggml.eos_token_id"), 4u);
    EXPECT_FALSE(file.counts.contains("tokenizer.ggml.padding_token_id"));
  }
}

TEST_F(Gguf, KnowsThePreTokenizersThatItWrites) {
  write_tokenizer(
      R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)"
      R"("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|)"
      R"( ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},{"type":"ByteLevel","use_regex":false}]})");
  EXPECT_EQ(exported(io::StoredType::f32).strings.at("tokenizer.ggml.pre"), "llama-bpe");
  write_tokenizer(R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]})");
  EXPECT_THAT(error_of([&] { exported(io::StoredType::f32); }), HasSubstr("pre_tokenizer is not known"));
  for (const char* other : {R"({"type":"Metaspace"})", "null"}) {
    write_tokenizer(other);
    EXPECT_FALSE(exported(io::StoredType::f32).strings.contains("tokenizer.ggml.model"));
  }
}

TEST_F(Gguf, RefusesTokenizersThatDoNotFit) {
  write_tokenizer(R"({"type":"ByteLevel"})", R"(["a"])");
  EXPECT_THAT(error_of([&] { exported(io::StoredType::f32); }), HasSubstr("model.merges holds array"));
  folder.write("tokenizer.json", R"({"model":{"vocab":[]},"pre_tokenizer":{"type":"ByteLevel"}})");
  EXPECT_THAT(error_of([&] { exported(io::StoredType::f32); }), HasSubstr("model.vocab is array"));
  EXPECT_THAT(error_of([&] { save_gguf(*model, folder / "m.gguf", io::StoredType::f64, folder / "none"); }),
              HasSubstr("not with F64"));
}

bool is_exportable(const LlamaConfig& config) {
  return config.rope.scaling != RotaryScaling::yarn && config.rope.scaling != RotaryScaling::dynamic;
}

std::vector<LlamaConfig> exportable_llamas() {
  std::vector<LlamaConfig> configs = testing::odd_llamas();
  std::erase_if(configs, [](const LlamaConfig& config) { return !is_exportable(config); });
  return configs;
}

TEST(GgufOfALlama, RefusesRotaryScalingsWhoseKeysAreNotKnown) {
  int refused = 0;
  for (const LlamaConfig& config : testing::odd_llamas()) {
    if (is_exportable(config)) continue;
    const TemporaryFolder folder;
    EXPECT_THAT(error_of([&] {
                  save_gguf(*as_language_model(Llama(config)), folder / "m.gguf", io::StoredType::f32,
                            folder.path());
                }),
                HasSubstr("are not known here; expected default, linear or llama3"));
    ++refused;
  }
  EXPECT_EQ(refused, 2);
}

/// Rows of queries or keys as llama.cpp's rotary embedding wants them: of each head the two coordinates of a
/// pair one after the other, where transformers has the first of all pairs, then the second.
std::vector<float> with_pairs_together(const Tensor& weight, int64_t heads) {
  const int64_t head = weight.size(0) / heads, width = weight.numel() / weight.size(0);
  std::vector<float> result;
  for (int64_t row = 0; row < weight.size(0); ++row) {
    const int64_t pair = row % head / 2, half = row % 2;
    const float* from = weight.data<float>() + (row / head * head + half * head / 2 + pair) * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

TEST(GgufOfALlama, HasItsWeightsWithQueriesAndKeysReordered) {
  for (LlamaConfig config : exportable_llamas()) {
    config.dtype = DType::float32;
    const TemporaryFolder folder;
    const Llama model = testing::perturbed(Llama(config));
    save_gguf(*as_language_model(model), folder / "m.gguf", io::StoredType::f32, folder.path());
    const GgufContents file(folder.read("m.gguf"));
    const auto expect = [&](const std::string& name, const Tensor& weight, int64_t heads = 0) {
      const std::vector<float> expected =
          heads > 0 ? with_pairs_together(weight, heads)
                    : std::vector<float>(weight.data<float>(), weight.data<float>() + weight.numel());
      ASSERT_TRUE(file.tensors.contains(name)) << name;
      EXPECT_EQ(floats(file.tensors.at(name).data, weight.numel()), expected) << name;
      EXPECT_EQ(file.tensors.at(name).dimensions.back(), static_cast<uint64_t>(weight.size(0))) << name;
    };
    const auto& layer = model.model.layers.back();
    const std::string block = "blk." + std::to_string(config.num_hidden_layers - 1) + ".";
    expect(block + "attn_q.weight", layer.self_attn.q_proj.weight, config.num_attention_heads);
    expect(block + "attn_k.weight", layer.self_attn.k_proj.weight, config.key_heads());
    expect(block + "attn_v.weight", layer.self_attn.v_proj.weight);
    expect(block + "attn_output.weight", layer.self_attn.o_proj.weight);
    expect(block + "ffn_gate.weight", layer.mlp.gate_proj.weight);
    expect(block + "ffn_up.weight", layer.mlp.up_proj.weight);
    expect(block + "ffn_down.weight", layer.mlp.down_proj.weight);
    expect(block + "attn_norm.weight", layer.input_layernorm.weight);
    expect(block + "ffn_norm.weight", layer.post_attention_layernorm.weight);
    expect("token_embd.weight", model.model.embed_tokens.weight);
    expect("output_norm.weight", model.model.norm.weight);
    EXPECT_EQ(file.tensors.contains("output.weight"), !config.tie_word_embeddings);
    if (config.attention_bias) {
      expect(block + "attn_q.bias", layer.self_attn.q_proj.bias, config.num_attention_heads);
      expect(block + "attn_k.bias", layer.self_attn.k_proj.bias, config.key_heads());
    }
  }
}

TEST(GgufOfALlama, IsDescribedAsLlamaCppDoes) {
  for (LlamaConfig config : exportable_llamas()) {
    config.dtype = DType::float32;
    const TemporaryFolder folder;
    save_gguf(*as_language_model(Llama(config)), folder / "m.gguf", io::StoredType::bf16, folder.path());
    const GgufContents file(folder.read("m.gguf"));
    const auto count = [&](const char* key) { return static_cast<int64_t>(file.counts.at(key)); };
    EXPECT_EQ(file.strings.at("general.architecture"), "llama");
    EXPECT_EQ(count("llama.block_count"), config.num_hidden_layers);
    EXPECT_EQ(count("llama.context_length"), 8);
    EXPECT_EQ(count("llama.embedding_length"), 8);
    EXPECT_EQ(count("llama.feed_forward_length"), 10);
    EXPECT_EQ(count("llama.attention.head_count"), config.num_attention_heads);
    EXPECT_EQ(count("llama.attention.head_count_kv"), config.key_heads());
    EXPECT_EQ(count("llama.attention.key_length"), config.head_size());
    EXPECT_EQ(count("llama.rope.dimension_count"), config.head_size());
    EXPECT_EQ(count("llama.vocab_size"), 11);
    EXPECT_EQ(file.reals.at("llama.rope.freq_base"), static_cast<float>(config.rope.theta));
    EXPECT_EQ(file.reals.at("llama.attention.layer_norm_rms_epsilon"),
              static_cast<float>(config.rms_norm_eps));
    EXPECT_EQ(file.counts.contains("llama.attention.sliding_window"), config.sliding_window > 0);
    const bool linear = config.rope.scaling == RotaryScaling::linear;
    EXPECT_EQ(file.strings.contains("llama.rope.scaling.type"), linear);
    if (linear) {
      EXPECT_EQ(file.reals.at("llama.rope.scaling.factor"), 3);
    }
    EXPECT_EQ(file.tensors.contains("rope_freqs.weight"), config.rope.scaling == RotaryScaling::llama3);
  }
}

TEST(GgufOfALlama, HasTheFactorsOfLlama31) {
  LlamaConfig config = testing::small_llama(DType::float32);
  config.head_dim = 8;
  config.rope = {.theta = 10, .scaling = RotaryScaling::llama3, .factor = 4, .original_positions = 16};
  const TemporaryFolder folder;
  save_gguf(*as_language_model(Llama(config)), folder / "m.gguf", io::StoredType::f16, folder.path());
  const GgufContents file(folder.read("m.gguf"));
  EXPECT_EQ(file.tensors.at("rope_freqs.weight").type, 0u);
  // 16 positions turn the pairs 16 10^(-i/4) / 2 pi = 2.55, 1.43, 0.81, 0.45 times: below 1 the frequency is
  // divided by 4, at n turns (1 - s) / 4 + s of it is left with s = (n - 1) / 3.
  const std::vector<float> factors = floats(file.tensors.at("rope_freqs.weight").data, 4);
  EXPECT_NEAR(factors[0], 1 / (0.25 + 0.75 * (2.546479 - 1) / 3), 1e-5);
  EXPECT_NEAR(factors[1], 1 / (0.25 + 0.75 * (1.431993 - 1) / 3), 1e-5);
  EXPECT_EQ(factors[2], 4);
  EXPECT_EQ(factors[3], 4);
}

}  // namespace
}  // namespace cladtorch::formats
