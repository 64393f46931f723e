#include "cladtorch/formats/hugging_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "cladtorch/io/safetensors.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

using io::error_of;
using testing::HasSubstr;

using Tensors = std::vector<std::pair<std::string, io::StoredTensor>>;

GPT2 toy(bool tied = true) {
  GPT2Config config = gpt2_preset("toy");
  config.tie_word_embeddings = tied;
  return GPT2(config, 9);
}

void expect_equal(const LanguageModel& a, const LanguageModel& b) {
  const std::vector<NamedTensor> actual = a.parameters(), expected = b.parameters();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Tensor &p = actual[i].tensor, &q = expected[i].tensor;
    ASSERT_EQ(p.dtype(), q.dtype()) << actual[i].name;
    ASSERT_EQ(p.shape(), q.shape()) << actual[i].name;
    EXPECT_EQ(std::memcmp(p.data(), q.data(), p.nbytes()), 0) << actual[i].name;
  }
}

/// The tensors of `file` with each name and tensor passed through `change`, written in its place.
template <class Change>
void rewrite(const std::filesystem::path& path, Change change) {
  const io::SafetensorsFile file(path);
  Tensors tensors;
  for (const auto& [name, stored] : file.tensors()) change(tensors, name, stored);
  io::write_safetensors(path, tensors);
}

/// `values` in another type.
template <class Stored, class Convert>
std::vector<Stored> converted(const io::StoredTensor& stored, Convert convert) {
  std::vector<Stored> result(stored.data.size() / sizeof(float));
  for (size_t i = 0; i < result.size(); ++i) {
    float value = 0;
    std::memcpy(&value, stored.data.data() + i * sizeof value, sizeof value);
    result[i] = convert(value);
  }
  return result;
}

TEST(HuggingFaceFolder, IsReadBackBitForBit) {
  for (const bool tied : {true, false}) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
      const io::TemporaryFolder folder;
      const auto model = as_language_model(toy(tied).to(dtype));
      EXPECT_FALSE(holds_model(folder.path()));
      save_model(*model, folder.path());
      EXPECT_TRUE(holds_model(folder.path()));
      const auto read = load_model(folder.path(), dtype);
      expect_equal(*read, *model);
      EXPECT_EQ(config_json(*read), config_json(*model));
    }
  }
}

TEST(HuggingFaceFolder, KeepsTheActivationAndTheScaleOfAttention) {
  using enum nn::Activation;
  for (const nn::Activation activation : {gelu_tanh, gelu_erf, relu, silu}) {
    for (const bool scaled : {false, true}) {
      GPT2Config config = gpt2_preset("toy");
      config.activation = activation;
      config.scale_attn_weights = scaled;
      config.scale_attn_by_inverse_layer_idx = !scaled;
      const io::TemporaryFolder folder;
      save_model(*as_language_model(GPT2(config)), folder.path());
      const auto read = load_model(folder.path());
      EXPECT_EQ(model_if<GPT2>(*read)->config.activation, activation);
      EXPECT_EQ(model_if<GPT2>(*read)->config.scale_attn_weights, scaled);
      EXPECT_EQ(model_if<GPT2>(*read)->config.scale_attn_by_inverse_layer_idx, !scaled);
      EXPECT_EQ(config_json(*read)["activation_function"], nn::name_of(activation));
    }
  }
}

TEST(HuggingFaceFolder, StoresGpt2sLayersTransposedUnderTransformersNames) {
  const io::TemporaryFolder folder;
  const GPT2 model = toy(false);
  save_model(*as_language_model(model), folder.path());
  const io::SafetensorsFile file(folder / "model.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.at("transformer.h.1.attn.c_attn.weight").shape, (std::vector<int64_t>{32, 96}));
  EXPECT_EQ(file.at("transformer.wte.weight").shape, (std::vector<int64_t>{65, 32}));
  EXPECT_EQ(file.at("lm_head.weight").shape, (std::vector<int64_t>{65, 32}));
  const auto* stored = reinterpret_cast<const float*>(file.at("transformer.h.1.mlp.c_fc.weight").data.data());
  for (int64_t in : {0, 1, 31}) {
    for (int64_t out : {0, 1, 17, 127})
      EXPECT_EQ(stored[in * 128 + out], model.h[1].mlp.c_fc.weight.data<float>()[out * 32 + in]);
  }
}

TEST(HuggingFaceFolder, TakesAModelSavedWithoutItsHeadAndTheLeftoversOfOldVersions) {
  const io::TemporaryFolder folder;
  const auto model = as_language_model(toy());
  save_model(*model, folder.path());
  const float mask[4] = {};
  rewrite(folder / "model.safetensors", [&](Tensors& tensors, const std::string& name, const auto& stored) {
    tensors.emplace_back(name.substr(std::string("transformer.").size()), stored);
    if (name == "transformer.wte.weight") {
      tensors.emplace_back("lm_head.weight", stored);
      tensors.emplace_back(
          "h.0.attn.bias",
          io::StoredTensor{io::StoredType::f32, {1, 1, 2, 2}, std::as_bytes(std::span(mask))});
    }
  });
  expect_equal(*load_model(folder.path()), *model);
}

TEST(HuggingFaceFolder, TakesATiedTableUnderEitherNameButNotTwoThatDiffer) {
  const io::TemporaryFolder folder;
  const auto model = as_language_model(toy());
  save_model(*model, folder.path());
  rewrite(folder / "model.safetensors", [&](Tensors& tensors, const std::string& name, const auto& stored) {
    tensors.emplace_back(name == "transformer.wte.weight" ? "lm_head.weight" : name, stored);
  });
  expect_equal(*load_model(folder.path()), *model);

  const std::vector<float> other(65 * 32);
  rewrite(folder / "model.safetensors", [&](Tensors& tensors, const std::string& name, const auto& stored) {
    tensors.emplace_back(name, stored);
    if (name == "lm_head.weight")
      tensors.emplace_back("transformer.wte.weight",
                           io::StoredTensor{stored.type, stored.shape, std::as_bytes(std::span(other))});
  });
  EXPECT_THAT(error_of([&] { load_model(folder.path()); }),
              HasSubstr("'lm_head.weight' differs from the embeddings, but config.json ties them"));
}

TEST(HuggingFaceFolder, ReadsEveryFloatingType) {
  const io::TemporaryFolder folder;
  const auto narrow = as_language_model(toy().to(DType::bfloat16)), wide = narrow->to(DType::float32);
  save_model(*narrow, folder.path());
  expect_equal(*load_model(folder.path()), *wide);

  save_model(*wide, folder.path());
  std::vector<std::vector<double>> keep;
  rewrite(folder / "model.safetensors", [&](Tensors& tensors, const std::string& name, const auto& stored) {
    keep.push_back(converted<double>(stored, [](float value) { return static_cast<double>(value); }));
    tensors.emplace_back(
        name, io::StoredTensor{io::StoredType::f64, stored.shape, std::as_bytes(std::span(keep.back()))});
  });
  expect_equal(*load_model(folder.path()), *wide);
  expect_equal(*load_model(folder.path(), DType::bfloat16), *narrow);
}

TEST(HuggingFaceFolder, ReadsHalfPrecision) {
  const io::TemporaryFolder folder;
  GPT2 model = toy();
  save_model(*as_language_model(model), folder.path());
  const uint16_t halves[] = {0x3c00, 0xc000, 0x3555, 0x0001, 0x83ff, 0x7bff};
  const float values[] = {1.0f, -2.0f, 0.333251953125f, 0x1p-24f, -0x1.ff8p-15f, 65504.0f};
  std::vector<uint16_t> bias(32, 0);
  std::copy(std::begin(halves), std::end(halves), bias.begin());
  rewrite(folder / "model.safetensors", [&](Tensors& tensors, const std::string& name, const auto& stored) {
    const bool chosen = name == "transformer.ln_f.bias";
    tensors.emplace_back(
        name, chosen ? io::StoredTensor{io::StoredType::f16, {32}, std::as_bytes(std::span(bias))} : stored);
  });
  const auto read = load_model(folder.path());
  const Tensor ln_f_bias = model_if<GPT2>(*read)->ln_f.bias;
  for (size_t i = 0; i < std::size(values); ++i) EXPECT_EQ(ln_f_bias.data<float>()[i], values[i]);
}

TEST(HuggingFaceFolder, RefusesForeignAndInconsistentFiles) {
  const io::TemporaryFolder folder;
  save_model(*as_language_model(toy()), folder.path());
  const auto error_with = [&](const char* key, const io::Json& value) {
    io::Json config = config_json(*as_language_model(toy()));
    config[key] = value;
    io::write_json(folder / "config.json", config);
    return error_of([&] { load_model(folder.path()); });
  };
  EXPECT_EQ(error_with("n_layer", 2), "");
  EXPECT_EQ(error_with("n_inner", 128), "");
  EXPECT_EQ(error_with("n_inner", nullptr), "");
  EXPECT_EQ(error_with("activation_function", "gelu_pytorch_tanh"), "");
  EXPECT_THAT(error_with("model_type", "bert"),
              HasSubstr("model_type is 'bert', which is not implemented; known are gpt2"));
  for (const char* activation : {"gelu", "gelu_fast", "relu", "silu", "swish"})
    EXPECT_EQ(error_with("activation_function", activation), "");
  EXPECT_THAT(
      error_with("activation_function", "quick_gelu"),
      HasSubstr("activation_function is 'quick_gelu', which is not implemented; known are gelu_new, gelu, "
                "relu and silu"));
  EXPECT_THAT(error_with("n_inner", 64),
              HasSubstr("c_fc.weight' is [32,128], but config.json makes it [32,64]"));
  EXPECT_THAT(error_with("n_inner", -1), HasSubstr("n_inner must be positive, or 0 for 4 n_embd, got -1"));
  EXPECT_THAT(error_with("n_layer", 3), HasSubstr("no tensor 'transformer.h.2."));
  EXPECT_THAT(error_with("n_layer", 1),
              HasSubstr("holds the tensor 'transformer.h.1.attn.c_attn.bias', which a gpt2 of 1 layers"));
  EXPECT_THAT(error_with("vocab_size", 66), HasSubstr("'transformer.wte.weight' is [65,32]"));
  EXPECT_THAT(error_with("n_layer", 1'000'000'000), HasSubstr("config.json describes a model of"));
  EXPECT_THAT(error_with("n_head", 5), HasSubstr("config.json"));
  EXPECT_THAT(error_with("n_embd", "wide"), HasSubstr("'n_embd' is string"));
  EXPECT_THAT(error_with("n_embd", 32.5), HasSubstr("'n_embd' is 32.5"));
  EXPECT_THAT(error_with("vocab_size", std::numeric_limits<int64_t>::max()), HasSubstr("config.json"));
  EXPECT_THAT(error_with("activation_function", 5), HasSubstr("'activation_function' is 5"));
  EXPECT_THAT(error_with("tie_word_embeddings", false), HasSubstr("no tensor 'lm_head.weight'"));
  EXPECT_EQ(error_with("scale_attn_by_inverse_layer_idx", true), "");
  EXPECT_EQ(error_with("scale_attn_weights", false), "");
  EXPECT_THAT(error_with("is_causal", false), HasSubstr("is_causal is false, which is not implemented"));
  EXPECT_THAT(error_with("add_cross_attention", true),
              HasSubstr("add_cross_attention is true, which is not implemented; expected false"));
}

TEST(HuggingFaceFolder, IsReadIntoAModelOfTheSameConfigurationOnly) {
  const io::TemporaryFolder folder;
  const auto stored = as_language_model(toy());
  save_model(*stored, folder.path());
  GPT2Config config = gpt2_preset("toy");
  config.dropout = 0.5;
  const auto model = as_language_model(GPT2(config, 1));
  EXPECT_EQ(difference(folder.path(), *model), "");
  load_parameters(folder.path(), *model);
  expect_equal(*model, *stored);
  config.n_layer = 3;
  const auto deeper = as_language_model(GPT2(config, 1));
  EXPECT_EQ(difference(folder.path(), *deeper), "n_layer is 2, but the model has 3");
  EXPECT_THAT(error_of([&] { load_parameters(folder.path(), *deeper); }),
              HasSubstr("config.json': n_layer is 2, but the model has 3; is it another model's folder?"));
}

TEST(HuggingFaceFolder, KeepsAGradientUnderTheNamesOfItsParameters) {
  const io::TemporaryFolder folder;
  const auto gradient = as_language_model(toy().to(DType::bfloat16))->gradient_like();
  Tensor d = gradient->parameters()[0].tensor;
  d.accumulate(ones(d.shape()));
  save_parameters(*gradient, folder / "gradient.safetensors");
  const io::SafetensorsFile file(folder / "gradient.safetensors");
  EXPECT_EQ(file.tensors().size(), gradient->parameters().size());
  const auto first = [&](const char* name) {
    return *reinterpret_cast<const float*>(file.at(name).data.data());
  };
  EXPECT_EQ(first("transformer.wte.weight"), 1);
  EXPECT_EQ(first("transformer.h.0.attn.c_attn.weight"), 0);
}

}  // namespace
}  // namespace cladtorch::formats
