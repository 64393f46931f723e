#include "cladtorch/formats/llmc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/factories.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

GPT2Config small() { return {.vocab_size = 65, .n_positions = 8, .n_layer = 2, .n_head = 2, .n_embd = 16}; }

/// Biases and norms drawn too, so that no two parameters are equal.
GPT2 random_model(const GPT2Config& config) {
  GPT2 model(config);
  Random random(7);
  for_each_parameter(model, [&](const std::string&, Tensor& parameter) {
    parameter.copy_from(randn(parameter.shape(), random));
  });
  return model;
}

std::vector<float> values_of(const Tensor& tensor) {
  const Tensor dense = tensor.to(DType::float32).contiguous();
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

TEST(Llmc, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const auto model = as_language_model(random_model(small()));
  for (const auto& [type, dtype] :
       {std::pair{io::StoredType::f32, DType::float32}, {io::StoredType::bf16, DType::bfloat16}}) {
    save_llmc(*model, folder / "m.bin", type);
    EXPECT_TRUE(is_llmc_model(folder / "m.bin"));
    EXPECT_EQ(llmc_stored_type(folder / "m.bin"), type);
    const auto expected = model->to(dtype)->parameters();
    const auto read = load_llmc(folder / "m.bin")->parameters();
    ASSERT_EQ(read.size(), expected.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].name, expected[i].name);
      EXPECT_EQ(read[i].tensor.shape(), expected[i].tensor.shape());
      EXPECT_EQ(values_of(read[i].tensor), values_of(expected[i].tensor)) << read[i].name;
    }
  }
}

TEST(Llmc, HasTheLayoutOfLlmc) {
  const TemporaryFolder folder;
  const GPT2 model = random_model(small());
  save_llmc(*as_language_model(model), folder / "m.bin");
  const std::string file = folder.read("m.bin");
  int32_t header[256];
  std::memcpy(header, file.data(), sizeof header);
  const int32_t expected[] = {20240326, 3, 8, 65, 2, 2, 16, 128, 0};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(header[i], expected[i]) << i;
  const auto* numbers = reinterpret_cast<const float*>(file.data() + sizeof header);
  const auto at = [&](size_t offset, const Tensor& tensor) {
    return std::equal(numbers + offset, numbers + offset + tensor.numel(), tensor.data<float>());
  };
  constexpr size_t C = 16, wte = 128 * C, wpe = 8 * C;
  EXPECT_TRUE(at(0, model.wte.weight));
  for (size_t i = 65 * C; i < wte; ++i) ASSERT_EQ(numbers[i], 0.0f) << i;
  EXPECT_TRUE(at(wte, model.wpe.weight));
  EXPECT_TRUE(at(wte + wpe, model.h[0].ln_1.weight));
  EXPECT_TRUE(at(wte + wpe + C, model.h[1].ln_1.weight));
  EXPECT_TRUE(at(wte + wpe + 4 * C, model.h[0].attn.c_attn.weight));  // [out, in], after both biases of ln_1
  EXPECT_TRUE(at(wte + wpe + 4 * C + 3 * C * C, model.h[1].attn.c_attn.weight));
  const size_t end = (file.size() - sizeof header) / sizeof(float);
  EXPECT_TRUE(at(end - C, model.ln_f.bias));
  EXPECT_TRUE(at(end - 2 * C, model.ln_f.weight));
  EXPECT_TRUE(at(end - 3 * C, model.h[1].mlp.c_proj.bias));
}

TEST(Llmc, RefusesFilesThatDoNotFitTheirHeader) {
  const TemporaryFolder folder;
  save_llmc(*as_language_model(GPT2(small())), folder / "m.bin");
  const std::string good = folder.read("m.bin");
  const auto refusal = [&](const std::string& content) {
    return error_of([&, path = folder.write("bad.bin", content)] { load_llmc(path); });
  };
  EXPECT_EQ(refusal(good), "");
  for (const size_t size : {size_t{0}, size_t{3}, size_t{1023}, size_t{1024}, good.size() - 1}) {
    EXPECT_THAT(refusal(good.substr(0, size)), HasSubstr("bad.bin'")) << size;
  }
  EXPECT_THAT(refusal(good + "x"), HasSubstr("was it cut off?"));
  const auto with = [&](size_t index, int32_t value) {
    std::string changed = good;
    std::memcpy(changed.data() + index * sizeof value, &value, sizeof value);
    return refusal(changed);
  };
  EXPECT_THAT(with(0, 20240520), HasSubstr("not a model file of llm.c"));
  EXPECT_THAT(with(1, 1), HasSubstr("version 1, expected 3 (float32) or 5 (bfloat16)"));
  EXPECT_THAT(with(1, 5), HasSubstr("was it cut off?"));
  EXPECT_THAT(with(3, 129), HasSubstr("a vocabulary of 129 is padded to 128"));
  EXPECT_THAT(with(5, 3), HasSubstr("bad.bin'"));  // heads do not divide channels
  for (size_t index = 2; index < 8; ++index) {
    for (const int32_t value : {-1, 0, 0x7fffffff})
      EXPECT_NE(with(index, value), "") << index << ' ' << value;
  }
}

TEST(Llmc, RefusesModelsThatLlmcDoesNotHave) {
  const TemporaryFolder folder;
  const auto refusal = [&](const GPT2Config& config, io::StoredType type = io::StoredType::f32) {
    return error_of([&] { save_llmc(*as_language_model(GPT2(config)), folder / "m.bin", type); });
  };
  GPT2Config config = small();
  config.layer_norm_epsilon = 1e-6;
  EXPECT_THAT(refusal(config), HasSubstr("layer_norm_epsilon: it is 1e-06"));
  config = small();
  config.bias = false;
  EXPECT_THAT(refusal(config), HasSubstr("biases"));
  config = small();
  config.activation = nn::Activation::gelu_erf;
  EXPECT_THAT(refusal(config), HasSubstr("no activation but gelu_new, and this model has gelu"));
  config = small();
  config.scale_attn_weights = false;
  EXPECT_THAT(refusal(config), HasSubstr("no scale_attn_weights"));
  config = small();
  config.scale_attn_by_inverse_layer_idx = true;
  EXPECT_THAT(refusal(config), HasSubstr("this model has scale_attn_by_inverse_layer_idx"));
  EXPECT_THAT(refusal(small(), io::StoredType::f16), HasSubstr("has no F16, only F32 and BF16"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.bin"));
}

}  // namespace
}  // namespace cladtorch::formats
