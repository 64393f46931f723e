#include "cladtorch/data/llmc_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

std::vector<int32_t> tokens_of(const LlmcTokens& file) {
  std::vector<int32_t> tokens(file.tokens().size());
  file.tokens().copy(0, tokens);
  return tokens;
}

TEST(LlmcTokens, SurviveARoundTripInBothWidths) {
  const TemporaryFolder folder;
  std::vector<uint32_t> wide(100'003);
  std::iota(wide.begin(), wide.end(), 0u);
  std::vector<uint16_t> narrow(wide.begin(), wide.begin() + 50'000);
  const TokenSequence parts({{TokenSpan(std::span<const uint16_t>(narrow))},
                             {TokenSpan()},
                             {TokenSpan(std::span<const uint32_t>(wide)).subspan(50'000, 10'000)}});
  for (const TokenWidth width : {TokenWidth::u16, TokenWidth::u32}) {
    write_llmc_tokens(folder / "t.bin", parts, width);
    EXPECT_TRUE(LlmcTokens::is_one(folder / "t.bin"));
    const LlmcTokens file = LlmcTokens::open(folder / "t.bin");
    EXPECT_EQ(file.tokens().width(), width);
    std::vector<int32_t> expected(60'000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(tokens_of(file), expected);
  }
  const TokenSpan high(std::span<const uint32_t>{wide});
  EXPECT_THAT(error_of([&] { write_llmc_tokens(folder / "u.bin", high, TokenWidth::u16); }),
              HasSubstr("token 65536 does not fit 2 bytes"));
  EXPECT_FALSE(std::filesystem::exists(folder / "u.bin"));
}

TEST(LlmcTokens, HaveTheHeaderThatLlmcWrites) {
  const TemporaryFolder folder;
  const std::vector<uint16_t> tokens = {50256, 1, 2};
  const TokenSpan parts{std::span(tokens)};
  write_llmc_tokens(folder / "t.bin", parts, TokenWidth::u16);
  const std::string content = folder.read("t.bin");
  ASSERT_EQ(content.size(), 1024u + 6u);
  int32_t header[4];
  std::memcpy(header, content.data(), sizeof header);
  EXPECT_EQ(header[0], 20240520);
  EXPECT_EQ(header[1], 1);
  EXPECT_EQ(header[2], 3);
  EXPECT_EQ(header[3], 0);
  EXPECT_EQ(std::memcmp(content.data() + 1024, tokens.data(), 6), 0);
}

TEST(LlmcTokens, RefuseDamagedAndForeignFiles) {
  const TemporaryFolder folder;
  const std::vector<uint32_t> tokens = {1, 2, 0x7fffffff};
  const TokenSpan parts{std::span(tokens)};
  write_llmc_tokens(folder / "t.bin", parts, TokenWidth::u32);
  const std::string good = folder.read("t.bin");
  const auto refusal = [&](const std::string& content) {
    return error_of([&, path = folder.write("bad.bin", content)] { LlmcTokens::open(path); });
  };
  EXPECT_EQ(refusal(good), "");
  for (size_t size = 0; size < good.size(); size += size < 16 ? 1 : 7) {
    EXPECT_THAT(refusal(good.substr(0, size)), HasSubstr("bad.bin'")) << size;
  }
  EXPECT_THAT(refusal(good + "x"), HasSubstr("was it cut off?"));
  const auto with = [&](size_t at, int32_t value) {
    std::string changed = good;
    std::memcpy(changed.data() + at, &value, sizeof value);
    return refusal(changed);
  };
  EXPECT_THAT(with(0, 20240326), HasSubstr("not a token file of llm.c"));
  EXPECT_THAT(with(4, 1), HasSubstr("version 1, expected 7"));
  EXPECT_THAT(with(8, -3), HasSubstr("names -3 tokens"));
  EXPECT_THAT(with(1024, -1), HasSubstr("larger than 2147483647"));
  EXPECT_FALSE(LlmcTokens::is_one(folder.write("text", "text")));
  EXPECT_FALSE(LlmcTokens::is_one(folder / "missing"));
}

/// `tokens` and `validation` of a vocabulary of characters.
Dataset dataset_of(const std::vector<uint16_t>& tokens, const std::vector<uint16_t>& validation) {
  return {.tokenizer = std::make_shared<CharTokenizer>(CharTokenizer::from_text("abcdef")),
          .train = TokenSpan(std::span(tokens)),
          .validation = TokenSpan(std::span(validation))};
}

std::vector<int32_t> tokens_of(const TokenSequence& sequence) {
  std::vector<int32_t> tokens(sequence.size());
  sequence.copy(0, tokens);
  return tokens;
}

TEST(LlmcFolder, IsADatasetWithItsSplits) {
  const TemporaryFolder folder;
  const std::vector<uint16_t> tokens = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3}, validation = {5, 4, 3};
  write_llmc_folder(dataset_of(tokens, validation), folder / "a/b/", 4);
  EXPECT_TRUE(is_prepared(folder / "a/b"));
  const Dataset read = open_dataset(folder / "a/b");
  EXPECT_EQ(tokens_of(read.train), std::vector<int32_t>(tokens.begin(), tokens.end()));
  EXPECT_EQ(tokens_of(read.validation), std::vector<int32_t>(validation.begin(), validation.end()));
  EXPECT_EQ(read.tokenizer->vocab_size(), 6);
  EXPECT_THAT(error_of([&] { write_llmc_folder(read, folder / "a/b"); }), HasSubstr("it exists already"));

  std::filesystem::remove(folder / "a/b/val_000000.bin");
  EXPECT_EQ(tokens_of(open_dataset(folder / "a/b").validation), std::vector<int32_t>{3});
  const auto file = folder / "a/b/train_000001.bin";
  EXPECT_EQ(tokens_of(open_dataset(file, Vocabulary((folder / "a/b").string())).train),
            (std::vector<int32_t>{4, 5, 0, 1}));
  EXPECT_THAT(error_of([&] { open_dataset(file); }), HasSubstr("name it with --tokenizer"));
}

TEST(LlmcFolder, RefusesWhatItCannotHold) {
  const TemporaryFolder folder;
  const std::vector<uint16_t> tokens = {0, 1, 6};
  Dataset dataset = dataset_of(tokens, {});
  write_llmc_folder(dataset, folder / "a");
  EXPECT_THAT(
      error_of([&] { open_dataset(folder / "a"); }),
      testing::AllOf(HasSubstr("train_000000.bin"), HasSubstr("token 2 is 6, outside the vocabulary of 6")));
  const std::vector<uint64_t> ignored = {1};
  dataset.train = TokenSequence({{.tokens = TokenSpan(std::span(tokens)), .ignored = ignored}});
  EXPECT_THAT(error_of([&] { write_llmc_folder(dataset, folder / "b"); }), HasSubstr("no place for prompts"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
}

}  // namespace
}  // namespace cladtorch::data
