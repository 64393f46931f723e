#include "cladtorch/formats/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cladtorch/formats/convert.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/safetensors.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

using Tensors = std::vector<std::pair<std::string, io::StoredTensor>>;

Tensor parameter(const LanguageModel& model, const std::string& name) {
  for (const NamedTensor& p : model.parameters()) {
    if (p.name == name) return p.tensor;
  }
  return {};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.data(), b.data(), a.nbytes()) == 0;
}

/// A small GPT-2 in "base" and an adapter of it in "adapter".
class PeftFolder : public testing::Test {
 protected:
  PeftFolder() {
    fs::create_directory(base);
    fs::create_directory(adapter);
    save_model(*plain(), base);
  }

  std::unique_ptr<LanguageModel> plain(DType dtype = DType::float32) const {
    return as_language_model(GPT2(gpt2_preset("toy"), 9).to(dtype));
  }
  std::unique_ptr<LanguageModel> adapted(const LoRAConfig& config, DType dtype = DType::float32) const {
    auto model = plain(dtype);
    add_lora(model, config, 4);
    Random random(29);
    for (NamedTensor& p : model->parameters()) {
      if (p.name.ends_with(".lora_B")) p.tensor.copy_from(normal(p.tensor.shape(), random, 0, 0.1));
    }
    return model;
  }
  void save(const LoRAConfig& config = {}) const {
    save_adapter(*adapted(config), config, base.string(), adapter);
  }

  std::string error_with(const io::Json& changes) const {
    const io::Json before = io::read_json(adapter / "adapter_config.json");
    io::Json config = before;
    config.update(changes);
    io::write_json(adapter / "adapter_config.json", config);
    const std::string message = load_error();
    io::write_json(adapter / "adapter_config.json", before);
    return message;
  }
  /// Of loading the adapter, which must leave the model alone when it fails.
  std::string load_error() const {
    auto model = plain();
    const std::string message = error_of([&] { load_adapter(adapter, model); });
    EXPECT_EQ(has_lora(*model), message.empty());
    return message;
  }
  /// The error after each tensor of the adapter was passed through `change`.
  template <class Change>
  std::string error_after(Change change) const {
    const fs::path path = adapter / "adapter_model.safetensors";
    const std::string before = io::read_file(path);
    {
      const io::SafetensorsFile file(path);
      Tensors tensors;
      for (const auto& [name, stored] : file.tensors()) change(tensors, name, stored);
      io::write_safetensors(path, tensors);
    }
    std::string message = load_error();
    io::write_file(path, before);
    return message;
  }

  io::TemporaryFolder folder;
  const fs::path base = folder / "base", adapter = folder / "adapter";
};

TEST_F(PeftFolder, IsReadBackBitForBit) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const LoRAConfig config{
        .rank = 3, .alpha = 5, .dropout = 0.25, .use_rslora = true, .targets = {"h.1.mlp.c_fc", "c_attn"}};
    const auto model = adapted(config, dtype);
    save_adapter(*model, config, "some/where", adapter);
    EXPECT_EQ(adapter_base(adapter), "some/where");
    auto read = plain(dtype);
    const LoRAConfig found = load_adapter(adapter, read);
    EXPECT_EQ(found.rank, 3);
    EXPECT_EQ(found.alpha, 5);
    EXPECT_EQ(found.dropout, 0.25);
    EXPECT_TRUE(found.use_rslora);
    EXPECT_THAT(found.targets, ElementsAre("h.0.attn.c_attn", "h.1.attn.c_attn", "h.1.mlp.c_fc"));
    ASSERT_EQ(read->parameters().size(), model->parameters().size());
    for (const NamedTensor& p : model->parameters())
      EXPECT_TRUE(same_bits(parameter(*read, p.name), p.tensor)) << p.name;
    const Tensor ids = arange(20).reshape({2, 10});
    EXPECT_TRUE(same_bits(read->logits(ids), model->logits(ids)));
  }
}

TEST_F(PeftFolder, HasTheNamesAndKeysThatPeftReads) {
  save({.rank = 3, .alpha = 12});
  const io::SafetensorsFile file(adapter / "adapter_model.safetensors");
  EXPECT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.at("base_model.model.transformer.h.1.attn.c_attn.lora_A.weight").shape,
            (std::vector<int64_t>{3, 32}));
  EXPECT_EQ(file.at("base_model.model.transformer.h.1.attn.c_attn.lora_B.weight").shape,
            (std::vector<int64_t>{96, 3}));
  const io::Json config = io::read_json(adapter / "adapter_config.json");
  EXPECT_EQ(config["peft_type"], "LORA");
  EXPECT_EQ(config["r"], 3);
  EXPECT_EQ(config["lora_alpha"].dump(), "12");
  EXPECT_EQ(config["fan_in_fan_out"], true);
  EXPECT_EQ(config["target_modules"], io::Json({"c_attn"}));
  auto llama = as_language_model(Llama(llama_preset("llama-toy")));
  add_lora(llama, {.targets = {"model.layers.1.mlp.up_proj"}}, 1);
  save_adapter(*llama, {}, "", adapter);
  const io::Json other = io::read_json(adapter / "adapter_config.json");
  EXPECT_EQ(other["fan_in_fan_out"], false);
  EXPECT_EQ(other["target_modules"], io::Json({"model.layers.1.mlp.up_proj"})) << "not up_proj of layer 0";
  EXPECT_TRUE(other["base_model_name_or_path"].is_null());
  EXPECT_TRUE(io::SafetensorsFile(adapter / "adapter_model.safetensors")
                  .contains("base_model.model.model.layers.1.mlp.up_proj.lora_A.weight"));
}

TEST_F(PeftFolder, StandsForItsModelWithTheAdapter) {
  save();
  EXPECT_TRUE(holds_model(adapter));
  EXPECT_EQ(base_folder(adapter), base);
  EXPECT_EQ(base_folder(base), base);
  const auto model = load_model(adapter);
  EXPECT_TRUE(has_lora(*model));
  const Tensor ids = arange(20).reshape({2, 10});
  EXPECT_TRUE(same_bits(model->logits(ids), adapted({})->logits(ids)));
  fs::rename(base, folder / "moved");
  EXPECT_THAT(error_of([&] { load_model(adapter); }), HasSubstr("name that with --from"));
}

TEST_F(PeftFolder, IsMergedIntoAModelOfItsOwn) {
  save({.targets = {"all-linear"}});
  io::write_file(base / "tokenizer.json", "{}");
  const Converted converted = convert_model(base, folder / "merged", {.adapter = adapter});
  EXPECT_EQ(converted.parameters, plain()->parameter_count());
  convert_model(adapter, folder / "same", {});
  const auto merged = load_model(folder / "merged"), same = load_model(folder / "same");
  const Tensor ids = arange(20).reshape({2, 10}),
               expected = adapted({.targets = {"all-linear"}})->logits(ids);
  const Tensor logits = merged->logits(ids);
  for (int64_t i = 0; i < logits.numel(); ++i)
    ASSERT_NEAR(logits.data<float>()[i], expected.data<float>()[i], 1e-5);
  EXPECT_TRUE(same_bits(same->logits(ids), logits));
  EXPECT_TRUE(fs::exists(folder / "merged" / "tokenizer.json"));
  EXPECT_THAT(error_of([&] { convert_model(adapter, folder / "twice", {.adapter = adapter}); }),
              HasSubstr("it holds an adapter itself"));
}

TEST_F(PeftFolder, IsSavedAloneAndOnlyAsItsConfigurationSays) {
  auto model = adapted({.rank = 3});
  EXPECT_THAT(error_of([&] { save_model(*model, folder.path()); }), HasSubstr("the model has adapters"));
  EXPECT_THAT(error_of([&] { save_adapter(*model, {.rank = 4}, "", adapter); }), HasSubstr("has rank 3"));
  EXPECT_THAT(error_of([&] { save_adapter(*plain(), {}, "", adapter); }), HasSubstr("has no adapter"));
  EXPECT_FALSE(holds_adapter(adapter));
  save({.rank = 3});
  EXPECT_THAT(error_of([&] { load_adapter(adapter, model); }), HasSubstr("has adapters already"));
}

TEST_F(PeftFolder, RefusesWhatIsNotImplemented) {
  save();
  EXPECT_EQ(error_with(io::Json::object()), "");
  EXPECT_EQ(error_with({{"bias", "lora_only"}}), "read '" + (adapter / "adapter_config.json").string() +
                                                     "': bias is \"lora_only\", which is not implemented; "
                                                     "expected \"none\"");
  EXPECT_THAT(error_with({{"peft_type", "IA3"}}), HasSubstr("peft_type is \"IA3\""));
  EXPECT_THAT(error_with({{"use_dora", true}}), HasSubstr("use_dora is true, which is not implemented"));
  EXPECT_THAT(error_with({{"modules_to_save", {"lm_head"}}}), HasSubstr("modules_to_save is [\"lm_head\"]"));
  EXPECT_THAT(error_with({{"rank_pattern", {{"c_fc", 4}}}}), HasSubstr("rank_pattern is {\"c_fc\":4}"));
  EXPECT_THAT(error_with({{"init_lora_weights", "pissa"}}), HasSubstr("init_lora_weights is \"pissa\""));
  EXPECT_THAT(error_with({{"key_of_tomorrow", 1}}), HasSubstr("key_of_tomorrow is 1, which"));
  EXPECT_EQ(error_with({{"key_of_tomorrow", nullptr}, {"init_lora_weights", "gaussian"}}), "");
  EXPECT_THAT(error_with({{"r", 0}}), HasSubstr("rank must be positive"));
  EXPECT_THAT(error_with({{"r", 1.5}}), HasSubstr("key 'r' is 1.5"));
  EXPECT_THAT(error_with({{"r", int64_t{1} << 60}}), HasSubstr("rank must be positive and at most"));
  EXPECT_THAT(error_with({{"r", 9}}), HasSubstr("is [8,32], expected [9,32] for the model and r = 9"));
  EXPECT_THAT(error_with({{"lora_alpha", -1}}), HasSubstr("alpha must be positive"));
  EXPECT_THAT(error_with({{"lora_dropout", 1}}), HasSubstr("dropout must be in [0, 1)"));
  EXPECT_THAT(error_with({{"target_modules", 3}}), HasSubstr("'target_modules' is 3, expected a list"));
  EXPECT_THAT(error_with({{"target_modules", {3}}}), HasSubstr("'target_modules' holds 3, expected names"));
}

TEST_F(PeftFolder, RefusesAnotherModelsOrADamagedAdapter) {
  save();
  EXPECT_EQ(error_after([](Tensors& out, const auto& name, const auto& t) { out.emplace_back(name, t); }),
            "");
  EXPECT_EQ(error_after([](Tensors& out, const std::string& name, const auto& t) {
              out.emplace_back("base_model.model." + name.substr(29), t);
            }),
            "")
      << "of a model without its head";
  EXPECT_THAT(
      error_after([](Tensors& out, const std::string& name, const auto& t) {
        if (!name.ends_with("h.1.attn.c_attn.lora_B.weight")) out.emplace_back(name, t);
      }),
      HasSubstr("of 'transformer.h.1.attn.c_attn' it holds only one of lora_A and lora_B, expected both"));
  EXPECT_THAT(error_after([](Tensors& out, const std::string& name, const auto& t) {
                if (name.find("h.1.attn") == std::string::npos) out.emplace_back(name, t);
              }),
              HasSubstr("'transformer.h.1.attn.c_attn' is one of target_modules, but has no lora_A"));
  EXPECT_THAT(error_after([](Tensors& out, const std::string& name, auto t) {
                std::swap(t.shape[0], t.shape[1]);
                out.emplace_back(name, t);
              }),
              HasSubstr("lora_A.weight' is [32,8], expected [8,32]"));
  EXPECT_THAT(error_after([](Tensors& out, const std::string& name, auto t) {
                t.type = io::StoredType::i32;
                out.emplace_back(name, t);
              }),
              HasSubstr("is I32, expected a floating type"));
  EXPECT_THAT(error_after([](Tensors& out, const std::string& name, const auto& t) {
                out.emplace_back(name, t);
                out.emplace_back(name + "2", t);
              }),
              HasSubstr("c_attn.lora_A.weight2', which is not an adapter of a gpt2's linear layers"));
  EXPECT_THAT(error_after([](Tensors&, const auto&, const auto&) {}), HasSubstr("target_modules"));
  auto llama = as_language_model(Llama(llama_preset("llama-toy")));
  EXPECT_THAT(error_of([&] { load_adapter(adapter, llama); }), HasSubstr("is it for another model?"));

  fs::rename(adapter / "adapter_model.safetensors", adapter / "adapter_model.bin");
  EXPECT_THAT(load_error(), HasSubstr("pickled adapters are not read"));
  fs::remove(adapter / "adapter_model.bin");
  EXPECT_THAT(load_error(), HasSubstr("adapter_model.safetensors"));
  fs::remove(adapter / "adapter_config.json");
  EXPECT_THAT(load_error(), HasSubstr("adapter_config.json"));
}

TEST_F(PeftFolder, NamesTheGradientsOfAdaptersAsTheirFileDoes) {
  save_parameters(*adapted({})->gradient_like(), folder / "grads.safetensors");
  const io::SafetensorsFile file(folder / "grads.safetensors");
  EXPECT_TRUE(file.contains("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"));
  EXPECT_TRUE(file.contains("transformer.h.0.attn.c_attn.weight"));
}

}  // namespace
}  // namespace cladtorch::formats
