#include "cladtorch/train/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "io/temporary_folder.h"
#include "tests/support/tokens.h"

namespace cladtorch::train {
namespace {

using cladtorch::testing::random_tokens;
using io::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<LanguageModel> small_model() {
  GPT2Config config = gpt2_preset("toy");
  config.n_positions = 16;
  GPT2 model(config, 3);
  Random random(5);
  for_each_parameter(model, [&](const std::string&, Tensor& p) { p.copy_from(randn(p.shape(), random)); });
  return as_language_model(model);
}

/// -log of the probability of `target` after `before`, from the scores.
double surprise(const LanguageModel& model, std::span<const int32_t> before, int32_t target) {
  const Tensor ids = from_values<int32_t>({1, static_cast<int64_t>(before.size())}, before);
  const Tensor last = model.logits(ids).select(1, ids.size(1) - 1);
  return cross_entropy(last, from_values<int32_t>({1}, {target})).item();
}

TEST(ShiftedTargets, AreTheNextTokensOfARow) {
  const Tensor targets = shifted_targets(from_values<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(std::vector<int32_t>(targets.data<int32_t>(), targets.data<int32_t>() + 6),
              ElementsAre(2, 3, -100, 5, 6, -100));
}

TEST(EvaluateTokens, IsTheMeanOverWhatIsPredicted) {
  const auto model = small_model();
  const Tensor ids = random_tokens({2, 4}, 65, 1);
  double sum = 0;
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t t = 1; t < 4; ++t)
      sum += surprise(*model, {ids.data<int32_t>() + row * 4, static_cast<size_t>(t)},
                      ids.data<int32_t>()[row * 4 + t]);
  }
  const Evaluation result = evaluate_tokens(*model, ids);
  EXPECT_EQ(result.tokens, 6);
  EXPECT_NEAR(result.loss, sum / 6, 1e-5 * sum);
  EXPECT_DOUBLE_EQ(result.perplexity(), std::exp(result.loss));
  const Evaluation nothing = evaluate_tokens(*model, random_tokens({3, 1}, 65, 1));
  EXPECT_EQ(nothing.tokens, 0);
  EXPECT_TRUE(std::isnan(nothing.loss));
}

TEST(EvaluateText, PredictsEveryTokenOnceWhateverTheWindows) {
  const auto model = small_model();
  const Tensor ids = random_tokens({1, 40}, 65, 2);
  const std::span<const int32_t> text(ids.data<int32_t>(), 40);
  const std::vector<uint16_t> stored(text.begin(), text.end());
  for (const auto& [context, stride] : {std::pair{5, 2}, {5, 5}, {8, 3}, {16, 1}, {1, 1}}) {
    double sum = 0;
    int64_t end = 0;  // predictions made so far
    while (end < 39) {
      const int64_t fresh = end;
      end = std::min<int64_t>(end == 0 ? context : end + stride, 39);
      for (int64_t i = fresh; i < end; ++i) {
        const int64_t begin = end - context;
        sum += surprise(*model, text.subspan(static_cast<size_t>(begin), static_cast<size_t>(i + 1 - begin)),
                        text[static_cast<size_t>(i + 1)]);
      }
    }
    for (const int64_t batch : {1, 3}) {
      double done = 0;
      const Evaluation result =
          evaluate_text(*model, data::TokenSpan(stored),
                        {.context = context, .stride = stride, .batch = batch, .progress = [&](double part) {
                           EXPECT_GT(part, done);
                           done = part;
                         }});
      EXPECT_EQ(done, 1);
      EXPECT_EQ(result.tokens, 39) << context << " " << stride;
      EXPECT_NEAR(result.loss, sum / 39, 1e-5 * result.loss) << context << " " << stride;
    }
  }
}

TEST(EvaluateText, LeavesOutWhatIsIgnored) {
  const auto model = small_model();
  const std::array<uint16_t, 5> text = {3, 1, 4, 1, 5};
  const std::array<uint64_t, 1> ignored = {0b01101};
  const data::TokenSequence tokens({{.tokens = data::TokenSpan(text), .ignored = ignored}});
  const std::array<int32_t, 5> ids = {3, 1, 4, 1, 5};
  const double expected =
      surprise(*model, std::span(ids).first(1), 1) + surprise(*model, std::span(ids).first(4), 5);
  const Evaluation result = evaluate_text(*model, tokens);
  EXPECT_EQ(result.tokens, 2);
  EXPECT_NEAR(result.loss, expected / 2, 1e-5);
  const std::array<uint64_t, 1> all = {0b11111};
  const Evaluation nothing =
      evaluate_text(*model, data::TokenSequence({{.tokens = data::TokenSpan(text), .ignored = all}}));
  EXPECT_EQ(nothing.tokens, 0);
  EXPECT_TRUE(std::isnan(nothing.loss));
}

TEST(EvaluateText, TakesATextShorterThanAWindow) {
  const auto model = small_model();
  const std::array<uint16_t, 4> text = {3, 1, 4, 1};
  const Evaluation whole = evaluate_text(*model, data::TokenSpan(text));
  EXPECT_EQ(whole.tokens, 3);
  EXPECT_NEAR(whole.loss, evaluate_tokens(*model, from_values<int32_t>({1, 4}, {3, 1, 4, 1})).loss, 1e-6);
}

TEST(EvaluateText, RefusesWhatDoesNotFit) {
  const auto model = small_model();
  const std::array<uint16_t, 4> text = {3, 1, 4, 1};
  const auto message = [&](size_t length, const TextEvaluationOptions& options) {
    return error_of([&] { evaluate_text(*model, data::TokenSpan(std::span(text).first(length)), options); });
  };
  EXPECT_THAT(message(1, {}), HasSubstr("the text has 1 tokens"));
  EXPECT_THAT(message(4, {.context = 17}), HasSubstr("the model takes at most 16"));
  EXPECT_THAT(message(4, {.context = 2, .stride = 3}), HasSubstr("expected at most 2"));
}

}  // namespace
}  // namespace cladtorch::train
