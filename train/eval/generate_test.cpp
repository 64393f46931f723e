#include "cladtorch/train/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

using io::error_of;
using testing::HasSubstr;

GPT2 small_model() {
  GPT2Config config = gpt2_preset("toy");
  config.n_positions = 16;
  GPT2 model(config, 3);
  // Far from the initialization, but for the biases, which would make one token the most likely everywhere.
  Random random(5);
  for_each_parameter(model, [&](const std::string& name, Tensor& p) {
    if (!name.ends_with(".bias")) p.copy_from(randn(p.shape(), random));
  });
  return model;
}

std::vector<int32_t> greedy(const GPT2& model, std::vector<int32_t> prompt, int64_t tokens) {
  std::vector<int32_t> generated;
  generate(*as_language_model(model), prompt, tokens, {.temperature = 0},
           [&](int32_t token) { generated.push_back(token); });
  return generated;
}

TEST(Generate, WithTheCacheGivesTheTokensOfTheFullForward) {
  const GPT2 model = small_model();
  const std::vector<int32_t> prompt = {7, 1, 30};
  const auto cached = greedy(model, prompt, 13);
  std::vector<int32_t> history = prompt;
  for (int i = 0; i < 13; ++i) {
    const auto length = static_cast<int64_t>(history.size());
    const Tensor logits = model.logits(from_values<int32_t>({1, length}, std::span<const int32_t>(history)));
    const float* last = logits.data<float>() + (length - 1) * model.config.vocab_size;
    history.push_back(static_cast<int32_t>(std::max_element(last, last + model.config.vocab_size) - last));
  }
  EXPECT_EQ(cached, std::vector<int32_t>(history.begin() + 3, history.end()));
  EXPECT_GT(std::set<int32_t>(cached.begin(), cached.end()).size(), 1u);
}

TEST(Generate, GoesOnWhenTheContextIsFullAndTakesALongPrompt) {
  const GPT2 model = small_model();
  EXPECT_EQ(greedy(model, {1}, 50).size(), 50u);
  EXPECT_EQ(greedy(model, std::vector<int32_t>(40, 2), 5), greedy(model, std::vector<int32_t>(16, 2), 5));
  EXPECT_THAT(error_of([&] { greedy(model, {}, 1); }), HasSubstr("no tokens"));
}

TEST(Generate, StopsAtATokenThatEndsTheTextAndDrawsOnlyTokensOfTheVocabulary) {
  const GPT2 model = small_model();
  const std::vector<int32_t> all = greedy(model, {7, 1, 30}, 13);
  const auto stopped = [&](std::vector<int32_t> stop, int64_t vocab_size = 0) {
    std::vector<int32_t> generated;
    generate(*as_language_model(model), std::array<int32_t, 3>{7, 1, 30}, 13,
             {.temperature = 0, .stop = std::move(stop), .vocab_size = vocab_size},
             [&](int32_t token) { generated.push_back(token); });
    return generated;
  };
  const auto last_new = std::find_if(all.begin(), all.end(), [&](int32_t token) { return token != all[0]; });
  EXPECT_EQ(stopped({-5, *last_new, 60}), std::vector<int32_t>(all.begin(), last_new));
  EXPECT_TRUE(stopped({all[0]}).empty());
  EXPECT_EQ(stopped({}, 1000), all);
  EXPECT_THAT(stopped({}, all[0]), testing::Each(testing::Lt(all[0])));
  EXPECT_EQ(stopped({}, all[0]).size(), 13u);
}

TEST(Generate, IsReproducibleBySeed) {
  const GPT2 model = small_model();
  const auto draw = [&](uint64_t seed) {
    std::vector<int32_t> generated;
    generate(*as_language_model(model), std::array<int32_t, 1>{1}, 12, {.temperature = 5, .seed = seed},
             [&](int32_t token) { generated.push_back(token); });
    return generated;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

std::map<int32_t, int> draws(const SamplingOptions& options, const std::vector<float>& logits, int count) {
  Sampler sampler(options);
  std::map<int32_t, int> counts;
  for (int i = 0; i < count; ++i) ++counts[sampler.draw(logits)];
  return counts;
}

TEST(Sampler, DrawsWithTheProbabilitiesOfTheScores) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  const auto counts = draws({}, logits, 20'000);
  EXPECT_NEAR(counts.at(0), 10'000, 300);  // four standard deviations are 283
  EXPECT_NEAR(counts.at(1), 6'000, 260);
  const auto sharper = draws({.temperature = 0.5}, logits, 20'000);
  EXPECT_NEAR(sharper.at(0), 20'000 * 0.25 / 0.38, 270);
}

TEST(Sampler, KeepsToTopKAndTopP) {
  const std::vector<float> logits = {std::log(0.15f), std::log(0.5f), std::log(0.05f), std::log(0.3f)};
  EXPECT_EQ(draws({.top_k = 2}, logits, 500).size(), 2u);
  EXPECT_EQ(draws({.top_k = 9}, logits, 500).size(), 4u);
  EXPECT_EQ(draws({.top_p = 0.9}, logits, 500).size(), 3u);
  EXPECT_EQ(draws({.top_p = 0.4}, logits, 500), (std::map<int32_t, int>{{1, 500}}));
  EXPECT_EQ(draws({.temperature = 0}, logits, 5), (std::map<int32_t, int>{{1, 5}}));
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  EXPECT_THAT(error_of([] { Sampler sampler({.temperature = -1}); }), HasSubstr("temperature"));
  EXPECT_THAT(error_of([] { Sampler sampler({.top_k = -1}); }), HasSubstr("top_k"));
  EXPECT_THAT(error_of([] { Sampler sampler({.top_p = 1.5}); }), HasSubstr("top_p"));
}

TEST(Sampler, RefusesScoresThatAreNotFinite) {
  for (const double temperature : {0.0, 1.0}) {
    const std::vector<float> logits = {1, std::nanf(""), 2};
    Sampler sampler({.temperature = temperature});
    EXPECT_THAT(error_of([&] { sampler.draw(logits); }), HasSubstr("not finite"));
  }
}

TEST(Utf8Stream, NeverSplitsACharacter) {
  std::vector<std::string> pieces;
  Utf8Stream stream([&](std::string_view text) { pieces.emplace_back(text); });
  const std::string text = "aß€😀z";
  for (const char byte : text) stream.write({&byte, 1});
  EXPECT_EQ(pieces, (std::vector<std::string>{"a", "ß", "€", "😀", "z"}));
  stream.write("\xe2\x82");
  stream.finish();
  EXPECT_EQ(pieces.back(), "\xe2\x82");
}

TEST(EncodePrompt, BeginsAfterAnEmptyLineWhereTheVocabularyHasOne) {
  const data::ByteTokenizer bytes;
  EXPECT_EQ(encode_prompt(bytes, ""), (std::vector<int32_t>{'\n', '\n'}));
  EXPECT_EQ(encode_prompt(bytes, "ab"), (std::vector<int32_t>{'a', 'b'}));
  EXPECT_EQ(encode_prompt(data::CharTokenizer::from_text("xyz"), ""), (std::vector<int32_t>{0}));
}

}  // namespace
}  // namespace cladtorch::train
