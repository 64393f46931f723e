// SentencePiece vocabularies in GGUF files against what llama.cpp's own Python package says that they hold;
// gguf_facts.py writes the facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cladtorch/formats/gguf.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/models/language_model.h"
#include "io/temporary_folder.h"
#include "tests/hf/hf_reference.h"
#include "tests/support/gguf_contents.h"

namespace cladtorch::formats {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing_support::GgufContents;

struct GgufVocabulary : ::testing::Test {
  static json all_facts() {
    return json::parse(io::read_file(cladtorch::testing::HFReference::folder("gguf_vocabularies.json")));
  }

  void write(const json& facts) {
    const auto folder_of = cladtorch::testing::HFReference::folder("../tokenizers");
    for (const char* name : {"tokenizer.model", "tokenizer.json"}) {
      std::filesystem::remove(folder / name);
      const auto file = folder_of / facts["vocabulary"].get<std::string>() / name;
      if (std::filesystem::exists(file)) folder.write(name, io::read_file(file));
    }
    for (const auto& [name, content] : facts["files"].items()) folder.write(name, content.dump());
  }

  GgufContents exported(int64_t vocab_size) {
    const GPT2Config config{
        .vocab_size = vocab_size, .n_positions = 2, .n_layer = 1, .n_head = 1, .n_embd = 2};
    written =
        save_gguf(*as_language_model(GPT2(config)), folder / "m.gguf", io::StoredType::f16, folder.path());
    return GgufContents(folder.read("m.gguf"));
  }

  const io::TemporaryFolder folder;
  bool written = false;
};

TEST_F(GgufVocabulary, HasTheTokensOfLlamaCpp) {
  for (const json& facts : all_facts()) {
    write(facts);
    const auto count = static_cast<int64_t>(facts["tokens"].size());
    const GgufContents file = exported(count);
    EXPECT_TRUE(written);
    EXPECT_EQ(json(file.strings.at("tokenizer.ggml.model")), facts["model"]);
    EXPECT_EQ(json(file.lists.at("tokenizer.ggml.tokens")), facts["tokens"]);
    EXPECT_EQ(file.real_lists.at("tokenizer.ggml.scores"), facts["scores"].get<std::vector<float>>());
    EXPECT_EQ(json(file.numbers.at("tokenizer.ggml.token_type")), facts["types"]);
    for (const auto& [key, value] : facts["keys"].items()) {
      ASSERT_TRUE(file.counts.contains(key)) << key;
      EXPECT_EQ(file.counts.at(key), value.is_boolean() ? uint64_t{value.get<bool>()} : value.get<uint64_t>())
          << key;
    }
    for (const auto& [name, content] : facts["files"].items()) std::filesystem::remove(folder / name);
  }
}

TEST_F(GgufVocabulary, SaysWhatThePiecesAreFor) {
  write(all_facts().front());
  const GgufContents file = exported(902);
  EXPECT_EQ(file.counts.at("tokenizer.ggml.bos_token_id"), 1u);
  EXPECT_EQ(file.counts.at("tokenizer.ggml.eos_token_id"), 2u);
  EXPECT_EQ(file.counts.at("tokenizer.ggml.unknown_token_id"), 0u);
  EXPECT_FALSE(file.counts.contains("tokenizer.ggml.padding_token_id"));
  EXPECT_EQ(file.counts.at("tokenizer.ggml.add_bos_token"), 1u);
  EXPECT_EQ(file.counts.at("tokenizer.ggml.add_eos_token"), 0u);
  EXPECT_EQ(file.counts.at("tokenizer.ggml.add_space_prefix"), 1u);
  EXPECT_EQ(file.lists.at("tokenizer.ggml.tokens").back(), "[PAD901]");
  EXPECT_EQ(file.numbers.at("tokenizer.ggml.token_type").back(), 5);
  EXPECT_EQ(file.real_lists.at("tokenizer.ggml.scores").back(), -10000);
}

TEST_F(GgufVocabulary, MarksAddedTokens) {
  json facts = all_facts().front();
  facts["files"]["tokenizer_config.json"]["added_tokens_decoder"] = {
      {"900", {{"content", "<|end|>"}, {"special", true}}},
      {"902", {{"content", "<tool>"}, {"special", false}}}};
  write(facts);
  const GgufContents file = exported(903);
  EXPECT_EQ(file.lists.at("tokenizer.ggml.tokens")[900], "<|end|>");
  EXPECT_EQ(file.lists.at("tokenizer.ggml.tokens")[901], "[PAD901]");
  EXPECT_EQ(file.lists.at("tokenizer.ggml.tokens")[902], "<tool>");
  EXPECT_EQ(file.numbers.at("tokenizer.ggml.token_type")[900], 3);
  EXPECT_EQ(file.numbers.at("tokenizer.ggml.token_type")[902], 4);
  EXPECT_EQ(file.real_lists.at("tokenizer.ggml.scores")[902], -1000);
}

TEST_F(GgufVocabulary, RefusesOneThatIsLargerThanTheModels) {
  write(all_facts().front());
  EXPECT_THAT(io::error_of([&] { exported(899); }),
              HasSubstr("tokenizer.model': it has 900 tokens, but the model has 899"));
}

TEST_F(GgufVocabulary, LeavesOutOneThatLlamaCppWouldReadOtherwise) {
  json facts = all_facts().front();
  facts["vocabulary"] = "sentencepiece_unigram";
  write(facts);
  EXPECT_FALSE(exported(2000).strings.contains("tokenizer.ggml.model"));
  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace cladtorch::formats
