#include "cladtorch/train/multiple_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/json.h"
#include "cladtorch/tensor/factories.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using data::HellaSwagStyle;
using io::error_of;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::unique_ptr<LanguageModel> small_model() {
  GPT2Config config = gpt2_preset("toy");
  config.n_positions = 6;
  config.vocab_size = 256;
  GPT2 model(config, 3);
  Random random(5);
  for_each_parameter(model, [&](const std::string&, Tensor& p) { p.copy_from(randn(p.shape(), random)); });
  return as_language_model(model);
}

/// log of the probability of `target` after `before`, from the scores.
double log_probability(const LanguageModel& model, std::span<const int32_t> before, int32_t target) {
  const Tensor ids = from_values<int32_t>({1, static_cast<int64_t>(before.size())}, before);
  const Tensor last = model.logits(ids).select(1, ids.size(1) - 1);
  return -cross_entropy(last, from_values<int32_t>({1}, {target})).item();
}

TEST(LogLikelihoods, SumOverTheTokensOfAContinuation) {
  const auto model = small_model();
  const std::vector<Continuation> continuations = {
      {{1, 2}, {3}},
      {{9}, {8, 7, 6}},
      {{5, 6, 7, 8, 9}, {1, 2, 3}},
      {{4}, {1, 2, 3, 4, 5, 6}},
      // Of one context: read once, but for those that do not fit.
      {{7, 8, 9}, {1, 2}},
      {{7, 8, 9}, {1, 3, 4}},
      {{7, 8, 9}, {2}},
      {{7, 8, 9}, {2}},
      {{6, 7, 8, 9, 5}, {1, 2, 3}},
      {{6, 7, 8, 9, 5}, {1}},
      {{6, 7, 8, 9, 5}, {1, 2}}};
  std::vector<double> expected;
  for (const auto& [context, tokens] : continuations) {
    std::vector<int32_t> all = context;
    double sum = 0;
    for (const int32_t token : tokens) {
      // What a window of the six positions before the last token leaves.
      const size_t dropped = context.size() + tokens.size() - 1 > 6 ? context.size() + tokens.size() - 7 : 0;
      sum += log_probability(*model, std::span(all).subspan(dropped), token);
      all.push_back(token);
    }
    expected.push_back(sum);
  }
  double done = 0;
  const std::vector<double> actual = log_likelihoods(*model, continuations, {.progress = [&](double part) {
    EXPECT_GT(part, done);
    done = part;
  }});
  EXPECT_EQ(done, 1);
  EXPECT_THAT(actual, Pointwise(DoubleNear(1e-3), expected));
  EXPECT_TRUE(log_likelihoods(*model, {}).empty());
}

TEST(LogLikelihoods, RefuseWhatCannotBeScored) {
  const auto model = small_model();
  const auto message = [&](const Continuation& continuation) {
    return error_of([&] { log_likelihoods(*model, std::vector{continuation}); });
  };
  EXPECT_THAT(message({{}, {1}}), HasSubstr("the context has no tokens"));
  EXPECT_THAT(message({{1}, {}}), HasSubstr("the continuation has no tokens"));
  EXPECT_THAT(message({{1}, {1, 2, 3, 4, 5, 6, 7}}),
              HasSubstr("has 7 tokens, but the model takes at most 6"));
  EXPECT_THAT(message({{1}, {256}}), HasSubstr("256"));
}

TEST(EncodeContinuation, GivesSpacesAtTheEndOfTheContextToWhatFollows) {
  const data::ByteTokenizer bytes;
  const auto cut = [&](const char* text, const char* more) {
    const auto [context, tokens] = encode_continuation(bytes, text, more);
    return std::pair(bytes.decode(context), bytes.decode(tokens));
  };
  EXPECT_EQ(cut("one", " two"), std::pair(std::string("one"), std::string(" two")));
  EXPECT_EQ(cut("one  ", "two"), std::pair(std::string("one"), std::string("  two")));
  EXPECT_EQ(cut(" ", "two"), std::pair(std::string(), std::string(" two")));
}

TEST(EncodeContinuation, BeginsAsTheTokenizerWantsIt) {
  const auto llama = data::load_tokenizer(fs::path(CLADTORCH_HELLASWAG) / "llama");
  const int32_t begin = llama->special_tokens().before.at(0);
  EXPECT_EQ(encode_continuation(*llama, "one", " two").context.at(0), begin);
  EXPECT_THAT(encode_continuation(*llama, "", "two").context, ElementsAre(begin));
  const auto gpt2 = data::load_tokenizer(fs::path(CLADTORCH_HELLASWAG) / "gpt2");
  EXPECT_EQ(encode_continuation(*gpt2, "one", " two").context, gpt2->encode("one"));
  EXPECT_THAT(encode_continuation(*gpt2, "", "two").context,
              ElementsAre(*gpt2->special_tokens().end_of_text));
}

TEST(Proportion, HasTheStandardErrorOfAMean) {
  const Proportion two_of_five{2, 5};
  EXPECT_DOUBLE_EQ(two_of_five.value(), 0.4);
  // The standard deviation of 1 1 0 0 0, with n - 1, over the root of 5.
  EXPECT_DOUBLE_EQ(two_of_five.standard_error(), std::sqrt(0.3 / 5));
  EXPECT_TRUE(std::isnan((Proportion{1, 1}.standard_error())));
}

/// What tests/hellaswag/generate.py found.
class HellaSwagReference : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(HellaSwagReference, AgreesOnEveryEnding) {
  const auto [name, style_name] = GetParam();
  const fs::path folder = fs::path(CLADTORCH_HELLASWAG) / name;
  const io::Json reference = io::read_json(folder / "reference.json")[style_name];
  const HellaSwagStyle style = data::hellaswag_style(style_name);
  const auto questions = data::read_hellaswag(fs::path(CLADTORCH_HELLASWAG) / "questions.jsonl", style);
  const auto result =
      evaluate_hellaswag(*formats::load_model(folder), *data::load_tokenizer(folder), questions, style);
  EXPECT_DOUBLE_EQ(result.accuracy.value(), reference["acc"].get<double>());
  EXPECT_DOUBLE_EQ(result.normalized.value(), reference["acc_norm"].get<double>());
  if (reference.contains("acc_stderr")) {
    EXPECT_DOUBLE_EQ(result.accuracy.standard_error(), reference["acc_stderr"].get<double>());
    EXPECT_DOUBLE_EQ(result.normalized.standard_error(), reference["acc_norm_stderr"].get<double>());
  }
  std::vector<double> expected;
  for (const auto& row : reference["log_likelihoods"]) {
    for (const double value : row) expected.push_back(value);
  }
  ASSERT_EQ(expected.size(), 4 * questions.size());
  EXPECT_THAT(result.log_likelihoods, Pointwise(DoubleNear(2e-3), expected));  // up to 300 nats in float32
}

INSTANTIATE_TEST_SUITE_P(Models, HellaSwagReference,
                         testing::Combine(testing::Values("gpt2", "llama"),
                                          testing::Values("harness", "llmc")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

TEST(HellaSwag, NamesTheLineOfAQuestionThatDoesNotFit) {
  const auto model = small_model();
  const std::vector<data::ChoiceQuestion> questions = {
      {.context = "a", .endings = {"b", "c"}, .line = 1},
      {.context = "a", .endings = {"b", "too long"}, .line = 4}};
  const auto message = [&](std::span<const data::ChoiceQuestion> some) {
    return error_of(
        [&] { evaluate_hellaswag(*model, data::ByteTokenizer(), some, HellaSwagStyle::harness); });
  };
  EXPECT_EQ(message(std::span(questions).first(1)), "");
  EXPECT_THAT(message(questions),
              HasSubstr("line 4: the continuation has 9 tokens, but the model takes at most 6"));
}

}  // namespace
}  // namespace cladtorch::train
