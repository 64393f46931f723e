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

TEST_F(EvalTest, ReadsAWholeText) {
  const std::string text = succeed({"data", "stories", "--bytes", "20000"});
  const std::string part = text.substr(0, 2000);
  folder_.write("my.txt", part);
  const auto result = eval({"--text", "my.txt"});
  EXPECT_EQ(result["tokens"], 1999);
  EXPECT_GT(result["loss"], 0.3);
  EXPECT_LT(result["loss"], 5);
  const auto wider = eval({"--text", "my.txt", "--context", "4", "--stride", "4", "--batch", "3"});
  EXPECT_EQ(wider["tokens"], 1999);
  EXPECT_NE(wider["loss"], result["loss"]);
}

TEST_F(EvalTest, RefusesWhatItCannotRead) {
  constexpr int usage = 2, runtime = 1;
  write_ids<int64_t>("ids", io::StoredType::i64, {1, 2}, {3, 1});
  expect_error({}, usage, "expected either --ids or --text");
  expect_error({"--ids", "ids", "--text", "ids"}, usage, "expected either --ids or --text");
  expect_error({"--text", "ids", "--grads", "g"}, usage, "--logits and --grads go with --ids");
  expect_error({"--ids", "ids", "--stride", "4"}, usage, "go with --text");
  expect_error({"--ids", "ids", "--dtype", "fp8"}, usage, "--dtype");
  expect_error({"--ids", "missing"}, runtime, "missing");
  expect_error({"--ids", "run/best/model.safetensors"}, runtime, "no tensor 'input_ids'");
  expect_error({"--text", "missing"}, runtime, "missing");
  write_ids<int64_t>("large", io::StoredType::i64, {1, 2}, {3, int64_t{1} << 32});
  expect_error({"--ids", "large"}, runtime, "holds the id 4294967296, expected 0 to ");
  write_ids<int64_t>("negative", io::StoredType::i64, {1, 2}, {3, -1});
  expect_error({"--ids", "negative"}, runtime, "holds the id -1");
  write_ids<int64_t>("flat", io::StoredType::i64, {2}, {3, 1});
  expect_error({"--ids", "flat"}, runtime, "no matrix [B, T]");
  write_ids<int64_t>("empty", io::StoredType::i64, {2, 0}, {});
  expect_error({"--ids", "empty"}, runtime, "no matrix [B, T]");
  write_ids<float>("float", io::StoredType::f32, {1, 2}, {3, 1});
  expect_error({"--ids", "float"}, runtime, "is F32, expected I64 or I32");
  write_ids<int64_t>("long", io::StoredType::i64, {1, 4000}, std::vector<int64_t>(4000, 1));
  expect_error({"--ids", "long"}, runtime, "4000 tokens exceed");
}

}  // namespace
}  // namespace cladtorch::integration
