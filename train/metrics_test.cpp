#include "cladtorch/train/metrics.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cladtorch::train
