#include "cladtorch/train/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace cladtorch::train {
namespace {

TEST(Metrics, AUniformGuessHasTheVocabularyAsPerplexityAndItsLogarithmAsBits) {
  EXPECT_NEAR(perplexity(std::log(256.0)), 256, 1e-9);
  EXPECT_NEAR(bits_per_byte(std::log(256.0), 1.0), 8, 1e-12);
  EXPECT_NEAR(bits_per_byte(std::log(256.0), 2.0), 4, 1e-12);
}

TEST(Metrics, BytesAreThoseOfTheScoredTokens) {
  // "aé" over and over: with one token of context, the scored ones are "é", "a", "é", ... : 3 bytes for 2.
  const data::CharTokenizer tokenizer({U'a', U'\u00e9'});
  std::vector<uint16_t> text;
  for (uint16_t i = 0; i < 41; ++i) text.push_back(i % 2);
  const data::TokenSpan tokens{std::span<const uint16_t>(text)};
  const data::EvalBatches all(tokens, {.batch = 2, .time = 4});
  EXPECT_DOUBLE_EQ(*bytes_per_token(all, tokenizer), 1.5);
  const data::EvalBatches half(tokens, {.batch = 1, .time = 2}, {.context = 1, .max_batches = 1});
  EXPECT_DOUBLE_EQ(*bytes_per_token(half, tokenizer), 1.0);
  EXPECT_DOUBLE_EQ(*bytes_per_token(all, data::ByteTokenizer()), 1.0);
}

/// Token 0 is "ab", token 1 stands for the end of a text.
class WithSpecialToken : public data::Tokenizer {
 public:
  std::string kind() const override { return "test"; }
  int64_t vocab_size() const override { return 2; }
  void append_tokens(std::string_view, std::vector<int32_t>&, bool) const override {}
  std::string_view token_bytes(int32_t token) const override { return token == 0 ? "ab" : "<|end|>"; }
  bool is_special(int32_t token) const override { return token == 1; }
  nlohmann::json to_json() const override { return {}; }
};

TEST(Metrics, ASpecialTokenHasNoBytes) {
  const std::vector<uint16_t> text = {0, 0, 1, 0, 0}, only_special = {1, 1, 1};
  const data::EvalBatches batches(data::TokenSpan(text), {.batch = 1, .time = 4});
  EXPECT_DOUBLE_EQ(*bytes_per_token(batches, WithSpecialToken()), 1.5);
  const data::EvalBatches none(data::TokenSpan(only_special), {.batch = 1, .time = 2});
  EXPECT_FALSE(bytes_per_token(none, WithSpecialToken()));
}

}  // namespace
}  // namespace cladtorch::train
