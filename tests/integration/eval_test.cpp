// What `cladtorch eval` says and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cladtorch/io/safetensors.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

class EvalTest : public ProgramTestBase {
 protected:
  void SetUp() override { succeed(small_train()); }

  nlohmann::json eval(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"eval", "--from", "run", "--json"});
    return nlohmann::json::parse(succeed(arguments));
  }
  void expect_error(std::vector<std::string> arguments, int code, const std::string& message) {
    arguments.insert(arguments.begin(), {"eval", "--from", "run"});
    ProgramTestBase::expect_error(arguments, code, message);
  }

  template <class Id>
  void write_ids(const std::string& name, io::StoredType type, const std::vector<int64_t>& shape,
                 const std::vector<Id>& ids) {
    io::write_safetensors(folder_ / name, {{"input_ids", {type, shape, std::as_bytes(std::span(ids))}}});
  }
};

float value(const io::StoredTensor& stored, size_t index) {
  float result = 0;
  std::memcpy(&result, stored.data.data() + index * sizeof result, sizeof result);
  return result;
}

TEST_F(EvalTest, WritesTheScoresAndTheGradientOfTheLossThatItPrints) {
  const std::vector<int64_t> ids = {3, 1, 4, 1, 5, 2, 7, 1};
  write_ids("ids", io::StoredType::i64, {2, 4}, ids);
  const auto result = eval({"--ids", "ids", "--logits", "logits", "--grads", "grads"});
  const io::SafetensorsFile file(folder_ / "logits");
  const io::StoredTensor& logits = file.at("logits");
  ASSERT_EQ(logits.shape.size(), 3u);
  EXPECT_EQ(logits.shape[0], 2);
  EXPECT_EQ(logits.shape[1], 4);
  const auto vocabulary = static_cast<size_t>(logits.shape[2]);
  double sum = 0;
  for (const size_t row : {0u, 1u, 2u, 4u, 5u, 6u}) {
    double total = 0;
    for (size_t v = 0; v < vocabulary; ++v)
      total += std::exp(static_cast<double>(value(logits, row * vocabulary + v)));
    const auto target = static_cast<size_t>(ids[row + 1]);
    sum += std::log(total) - static_cast<double>(value(logits, row * vocabulary + target));
  }
  EXPECT_NEAR(result["loss"].get<double>(), sum / 6, 1e-5);
  EXPECT_NEAR(result["perplexity"].get<double>(), std::exp(sum / 6), 1e-3);
  EXPECT_EQ(result["tokens"], 6);

  const io::SafetensorsFile grads(folder_ / "grads"), model(folder_ / "run/best/model.safetensors");
  ASSERT_EQ(grads.tensors().size(), model.tensors().size());
  for (const auto& [name, stored] : model.tensors()) {
    EXPECT_EQ(grads.at(name).shape, stored.shape) << name;
    double squares = 0;
    for (size_t i = 0; i < stored.data.size() / sizeof(float); ++i)
      squares += std::pow(static_cast<double>(value(grads.at(name), i)), 2);
    EXPECT_GT(squares, 0) << name;
  }
  // Without the files it says the same.
  EXPECT_EQ(eval({"--ids", "ids"}), result);
  write_ids("narrow", io::StoredType::i32, {2, 4}, std::vector<int32_t>(ids.begin(), ids.end()));
  EXPECT_EQ(eval({"--ids", "narrow"}), result);
  EXPECT_NEAR(eval({"--ids", "ids", "--dtype", "bf16"})["loss"].get<double>(), sum / 6, 0.05);
  EXPECT_THAT(succeed({"eval", "--from", "run", "--ids", "ids"}),
              AllOf(HasSubstr("loss  "), HasSubstr("perplexity  "), HasSubstr("tokens      6")));
}

TEST_F(EvalTest, OfOneTokenARowHasScoresButNoLoss) {
  write_ids<int64_t>("ids", io::StoredType::i64, {2, 1}, {3, 1});
  const auto result = eval({"--ids", "ids", "--logits", "logits"});
  EXPECT_TRUE(result["loss"].is_null());
  EXPECT_EQ(result["tokens"], 0);
  EXPECT_TRUE(io::SafetensorsFile(folder_ / "logits").contains("logits"));
}

TEST_F(EvalTest, ReadsWholeTexts) {
  const std::string text = succeed({"data", "stories", "--bytes", "20000"});
  folder_.write("my.txt", text.substr(0, 2000));
  folder_.write("other.txt", text.substr(2000, 500));
  const auto results = eval({"--text", "my.txt", "other.txt"})["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["data"], "my.txt");
  EXPECT_EQ(results[0]["tokens"], 1999);
  EXPECT_EQ(results[1]["tokens"], 499);
  const double loss = results[0]["loss"];
  EXPECT_GT(loss, 0.3);
  EXPECT_LT(loss, 5);
  EXPECT_NEAR(results[0]["perplexity"].get<double>(), std::exp(loss), 1e-9 * std::exp(loss));
  EXPECT_NEAR(results[0]["bits_per_byte"].get<double>(), loss / std::log(2.0),
              1e-9);  // a character is a byte
  EXPECT_EQ(eval({"--text", "my.txt", "--text", "other.txt"})["results"], results);
  const auto wider =
      eval({"--text", "my.txt", "--context", "4", "--stride", "4", "--batch", "3"})["results"][0];
  EXPECT_EQ(wider["tokens"], 1999);
  EXPECT_NE(wider["loss"], loss);
  EXPECT_THAT(
      succeed({"eval", "--from", "run", "--text", "my.txt", "other.txt"}),
      MatchesRegex(
          "text         loss  perplexity  bits/byte  tokens\nmy\\.txt .* 1999\nother\\.txt .* 499\n"));
}

TEST_F(EvalTest, ReadsTheValidationPartOfPreparedTokens) {
  folder_.write("my.txt", succeed({"data", "stories", "--bytes", "4000"}));
  succeed({"data", "prepare", "--text", "my.txt", "--tokenizer", "run/best", "--out", "tokens"});
  const auto prepared = eval({"--text", "tokens"})["results"][0];
  const std::string text = folder_.read("my.txt");
  const size_t validation = text.size() / 10;
  EXPECT_EQ(prepared["tokens"], validation - 1);
  folder_.write("tail.txt", text.substr(text.size() - validation));
  EXPECT_EQ(eval({"--text", "tail.txt"})["results"][0]["loss"], prepared["loss"]);
  succeed({"data", "prepare", "--text", "my.txt", "--tokenizer", "byte", "--out", "bytes"});
  expect_error({"--text", "bytes"}, 1, "prepared with another vocabulary");
}

TEST_F(EvalTest, ScoresOnlyTheAnswersOfPrompts) {
  folder_.write("prompts.jsonl", "{\"prompt\": \"The fox \", \"completion\": \"ran.\"}\n");
  // Of "The fox ran." and the newline that ends an answer, five characters.
  EXPECT_EQ(eval({"--text", "prompts.jsonl"})["results"][0]["tokens"], 5);
}

TEST_F(EvalTest, PutsHellaSwagBelowTheTexts) {
  folder_.write("my.txt", "The fox ran.");
  const std::string question =
      R"({"ctx_a": "The fox", "ctx_b": "it", "endings": ["ran.", "sat down."], "label": 0})"
      "\n";
  folder_.write("h.jsonl", question + question + question);
  const auto results = eval({"--text", "my.txt", "--hellaswag", "h.jsonl"})["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["data"], "my.txt");
  EXPECT_EQ(results[1]["data"], "h.jsonl");
  EXPECT_EQ(results[1]["examples"], 3);
  EXPECT_EQ(results[1]["acc"], 1);  // the shorter one has the larger sum
  EXPECT_EQ(results[1]["acc_stderr"], 0);
  EXPECT_TRUE(results[1]["acc_norm"].is_number());
  const auto one =
      eval({"--hellaswag", "h.jsonl", "--limit", "1", "--hellaswag-style", "llmc"})["results"][0];
  EXPECT_EQ(one["examples"], 1);
  EXPECT_TRUE(one["acc_norm_stderr"].is_null());
  EXPECT_THAT(
      succeed({"eval", "--from", "run", "--text", "my.txt", "--hellaswag", "h.jsonl"}),
      MatchesRegex("text .*\nmy\\.txt .*\n\nHellaSwag  accuracy      \\+-  normalized      \\+-  examples\n"
                   "h\\.jsonl      1\\.0000  0\\.0000 .* 3\n"));
}

TEST_F(EvalTest, RefusesWhatItCannotRead) {
  constexpr int usage = 2, runtime = 1;
  write_ids<int64_t>("ids", io::StoredType::i64, {1, 2}, {3, 1});
  expect_error({}, usage, "there is nothing to evaluate; give --text, --hellaswag or --ids");
  expect_error({"--ids", "ids", "--text", "ids"}, usage, "--ids does not go with --text and --hellaswag");
  expect_error({"--ids", "ids", "--hellaswag", "h"}, usage, "--ids does not go with --text and --hellaswag");
  expect_error({"--text", "ids", "--grads", "g"}, usage, "--logits and --grads need --ids");
  expect_error({"--ids", "ids", "--stride", "4"}, usage, "--context and --stride need --text");
  expect_error({"--ids", "ids", "--dtype", "fp8"}, usage, "--dtype");
  expect_error({"--text", "ids", "--limit", "4"}, usage, "--limit and --hellaswag-style need --hellaswag");
  expect_error({"--hellaswag", "h", "--hellaswag-style", "x"}, usage, "expected harness or llmc");
  expect_error({"--hellaswag", "h", "--limit", "0"}, usage, "--limit");
  expect_error({"--ids", "missing"}, runtime, "missing");
  expect_error({"--ids", "run/best/model.safetensors"}, runtime, "no tensor 'input_ids'");
  expect_error({"--text", "missing"}, runtime, "missing");
  expect_error({"--hellaswag", "missing"}, runtime, "missing");
  folder_.write("h.jsonl", "{}");
  expect_error({"--hellaswag", "h.jsonl"}, runtime, "h.jsonl', line 1: there is neither a key");
  write_ids<int64_t>("large", io::StoredType::i64, {1, 2}, {3, int64_t{1} << 32});
  expect_error({"--ids", "large"}, runtime, "holds the id 4294967296, expected 0 to ");
  write_ids<int64_t>("negative", io::StoredType::i64, {1, 2}, {3, -1});
  expect_error({"--ids", "negative"}, runtime, "holds the id -1");
  write_ids<int64_t>("flat", io::StoredType::i64, {2}, {3, 1});
  expect_error({"--ids", "flat"}, runtime, "is not a matrix [B, T]");
  write_ids<int64_t>("empty", io::StoredType::i64, {2, 0}, {});
  expect_error({"--ids", "empty"}, runtime, "is not a matrix [B, T]");
  write_ids<float>("float", io::StoredType::f32, {1, 2}, {3, 1});
  expect_error({"--ids", "float"}, runtime, "is F32, expected I64 or I32");
  write_ids<int64_t>("long", io::StoredType::i64, {1, 4000}, std::vector<int64_t>(4000, 1));
  expect_error({"--ids", "long"}, runtime, "4000 tokens exceed");
}

}  // namespace
}  // namespace cladtorch::integration
