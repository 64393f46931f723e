// The C++ of docs/migrating-from-pytorch.md about transformers and PEFT, compiled and run. guide_test.cpp
// checks that none is missing in this folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/lora.h"
#include "cladtorch/train/evaluate.h"
#include "cladtorch/train/generate.h"
#include "cladtorch/train/tensorboard.h"
#include "io/temporary_folder.h"

namespace cladtorch {
namespace fs = std::filesystem;

namespace {

TEST(Migrating, HuggingFace) {
  const fs::path source = fs::path(CLADTORCH_HELLASWAG) / "gpt2";
  const io::TemporaryFolder temporary;
  const GPT2Config config = gpt2_preset("toy");
  auto fresh = as_language_model(GPT2(config));
  EXPECT_EQ(fresh->type(), "gpt2");
  fs::path folder = source;
  auto model = formats::load_model(folder);
  data::TokenizerPtr tokenizer = data::load_tokenizer(folder);
  const std::string text = "The fox";
  const std::vector<int32_t> tokens = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(tokens), text);
  EXPECT_TRUE(tokenizer->special_tokens().end_of_text.has_value());
  {
    const std::vector<int32_t>& ids = tokens;
    EXPECT_EQ(tokenizer->decode(ids), text);
  }
  const Tensor ids = from_values<int32_t>({1, static_cast<int64_t>(tokens.size())}, tokens);
  EXPECT_EQ(model->logits(ids).size(2), tokenizer->vocab_size());
  EXPECT_GT(train::evaluate_tokens(*model, ids).loss, 0);
  auto cache = model->make_cache(1);
  EXPECT_EQ(model->decode(ids, *cache).shape(), (Shape{1, tokenizer->vocab_size()}));
  EXPECT_FALSE(train::generate_text(*model, *tokenizer, "The fox", 20, {.temperature = 0.8}).empty());
  model->set_gradient_checkpointing(true);
  EXPECT_TRUE(model->gradient_checkpointing());

  folder = temporary.path();
  formats::save_model(*model, folder);
  const fs::path path = folder / "model.safetensors";
  io::SafetensorsFile file(path);
  const std::string name = "transformer.wte.weight";
  EXPECT_EQ(file.at(name).shape, io::SafetensorsFile(source / "model.safetensors").at(name).shape);
  train::EventFile events(folder, 0);
}

TEST(Migrating, Adapters) {
  const std::string base = (fs::path(CLADTORCH_HELLASWAG) / "gpt2").string();
  const io::TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  auto model = formats::load_model(base), other = formats::load_model(base);
  const uint64_t seed = 1;
  add_lora(model, {.rank = 4}, seed);
  formats::save_adapter(*model, {.rank = 4}, base, folder);
  EXPECT_TRUE(has_lora(*model));
  merge_lora(model);
  EXPECT_FALSE(has_lora(*model));
  model = std::move(other);
  formats::load_adapter(folder, model);
  EXPECT_TRUE(has_lora(*model));
}

}  // namespace
}  // namespace cladtorch
