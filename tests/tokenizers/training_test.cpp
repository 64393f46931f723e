#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cladtorch/data/bpe_trainer.h"
#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"
#include "tests/tokenizers/vectors.h"

namespace cladtorch::data {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(TrainBpe, FindsTheVocabularyThatHuggingFaceFinds) {
  const TextFiles corpus(vectors_folder() / "corpus.txt");
  const json expected = json::parse(io::read_file(vectors_folder() / "gpt2/tokenizer.json")).at("model");
  for (int threads : {1, 3}) {
    const auto tokenizer = train_bpe(corpus, {.vocab_size = 1000, .threads = threads});
    const json model = tokenizer->to_json().at("model");
    EXPECT_EQ(model.at("vocab"), expected.at("vocab"));
    std::vector<std::string> merges;
    for (const json& merge : expected.at("merges")) {
      merges.push_back(merge.is_array() ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                        : merge.get<std::string>());
    }
    EXPECT_EQ(model.at("merges"), json(merges));
  }
}

TEST(TrainBpe, SplitsAsGpt4WhenAsked) {
  const TextFiles corpus(vectors_folder() / "corpus.txt");
  const auto tokenizer =
      train_bpe(corpus, {.vocab_size = 700, .pattern = "gpt4", .special_tokens = {"<|a|>", "<|endoftext|>"}});
  EXPECT_EQ(tokenizer->vocab_size(), 700);
  EXPECT_EQ(tokenizer->find("<|endoftext|>"), 1);
  EXPECT_EQ(tokenizer->special_tokens().end_of_text, 1);
  const std::string text = io::read_file(vectors_folder() / "corpus.txt");
  const std::vector<int32_t> tokens = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(tokens), text);
  EXPECT_LT(tokens.size(), text.size() / 2);
  // No token has more than three digits.
  for (int32_t token = 0; token < 700; ++token) {
    const std::string_view bytes = tokenizer->token_bytes(token);
    EXPECT_LE(std::count_if(bytes.begin(), bytes.end(), [](char c) { return c >= '0' && c <= '9'; }), 3)
        << bytes;
  }
}

TEST(TrainBpe, StopsWhereTheTextGivesNoMore) {
  const io::TemporaryFolder folder;
  const auto path = folder.write("t.txt", "low low low lower<|endoftext|>low");
  const auto tokenizer = train_bpe(TextFiles(path), {.vocab_size = 5000});
  // l o, lo w, and the space before low: what occurs twice.
  EXPECT_EQ(tokenizer->vocab_size(), 257 + 3);
  EXPECT_EQ(tokenizer->encode("low lower").size(), 4u);
  EXPECT_EQ(tokenizer->encode("<|endoftext|>"), std::vector<int32_t>{0});
}

TEST(TrainBpe, ForgetsRareWordsWhereThereAreTooMany) {
  const io::TemporaryFolder folder;
  std::string text;
  for (int64_t i = 0; i < 300000; ++i)
    text += "word" + std::to_string(i * 7919 % 1000003) + (i % 4 == 0 ? " often " : " ");
  const auto path = folder.write("t.txt", text);
  BpeTrainingOptions options{.vocab_size = 300, .threads = 2};
  options.most_words = 20000;
  const auto tokenizer = train_bpe(TextFiles(path), options);
  EXPECT_TRUE(tokenizer->find("\u0120often").has_value());
  options.threads = 1;
  EXPECT_EQ(train_bpe(TextFiles(path), options)->fingerprint(), tokenizer->fingerprint());
}

TEST(TrainBpe, RefusesOptionsThatMakeNoSense) {
  const io::TemporaryFolder folder;
  const TextFiles text(folder.write("t.txt", "some text"));
  const auto error = [&](const BpeTrainingOptions& options) {
    return io::error_of([&] { train_bpe(text, options); });
  };
  EXPECT_THAT(error({.vocab_size = 256}), HasSubstr("expected from 257 (256 bytes and 1 special tokens)"));
  EXPECT_THAT(error({.pattern = "gpt3"}), HasSubstr("expected gpt2 or gpt4"));
  EXPECT_THAT(error({.special_tokens = {"<a b>"}}), HasSubstr("'<a b>'"));
  EXPECT_THAT(error({.special_tokens = {"\u00e9"}}), HasSubstr("longer than a character"));
  EXPECT_THAT(error({.special_tokens = {"<a>", "<a>"}}), HasSubstr("different from the others"));
}

}  // namespace
}  // namespace cladtorch::data
