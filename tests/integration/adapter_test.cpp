// --adapter and merge on adapters that PEFT saved, against what PEFT computed with them. The folders and the
// script that made them are in tests/hf.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cladtorch/io/safetensors.h"
#include "io/temporary_folder.h"
#include "tests/integration/program.h"

namespace cladtorch::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path models = CLADTORCH_HF_REFERENCES;

float value(const io::StoredTensor& stored, size_t i) {
  float result = NAN;
  std::memcpy(&result, stored.data.data() + i * sizeof result, sizeof result);
  return result;
}

/// The largest difference, relative to the largest value of `expected` where that is wanted.
double difference(const io::StoredTensor& expected, const io::StoredTensor& actual, bool relative = false) {
  EXPECT_EQ(actual.shape, expected.shape);
  double largest = 0, magnitude = 0;
  for (size_t i = 0; i < std::min(expected.data.size(), actual.data.size()) / sizeof(float); ++i) {
    const auto a = static_cast<double>(value(expected, i)), b = static_cast<double>(value(actual, i));
    largest = std::isfinite(a - b) ? std::max(largest, std::abs(a - b)) : INFINITY;
    magnitude = std::max(magnitude, std::abs(a));
  }
  return relative ? largest / magnitude : largest;
}

class AdapterProgram : public testing::Test {
 protected:
  Outcome run_here(const std::vector<std::string>& arguments) const {
    return run(arguments, {.folder = folder_.path()});
  }
  void succeed(const std::vector<std::string>& arguments) const {
    const Outcome outcome = run_here(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& part) const {
    const Outcome outcome = run_here(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  io::TemporaryFolder folder_;
};

TEST_F(AdapterProgram, EvaluatesAsPeftDoes) {
  for (const auto& [name, base] :
       {std::pair("gpt2-all", "gpt2-untied"), {"llama-all", "llama-one-key-head"}}) {
    const fs::path adapter = models / "adapters" / name, reference = adapter / "reference.safetensors";
    succeed({"eval", "--from", models / base, "--adapter", adapter, "--ids", reference, "--logits", "logits",
             "--grads", "grads"});
    const io::SafetensorsFile expected(reference), logits(folder_ / "logits"), grads(folder_ / "grads");
    EXPECT_LT(difference(expected.at("logits"), logits.at("logits")), 1e-4);
    for (const auto& [tensor, stored] : expected.tensors()) {
      if (!tensor.starts_with("gradient/")) continue;
      EXPECT_LT(difference(stored, grads.at(tensor.substr(9)), true), 1e-3) << tensor;
    }
  }
}

TEST_F(AdapterProgram, MergesIntoAFolderThatGivesTheSameScores) {
  const fs::path adapter = models / "adapters" / "llama-default",
                 reference = adapter / "reference.safetensors";
  succeed({"merge", "--from", models / "llama-grouped", "--adapter", adapter, "--out", "merged"});
  succeed({"eval", "--from", "merged", "--ids", reference, "--logits", "logits"});
  const io::SafetensorsFile expected(reference), logits(folder_ / "logits");
  EXPECT_LT(difference(expected.at("merged"), logits.at("logits")), 1e-4);
  const io::SafetensorsFile base(models / "llama-grouped" / "model.safetensors"),
      merged(folder_ / "merged" / "model.safetensors");
  EXPECT_EQ(merged.tensors().size(), base.tensors().size());
}

TEST_F(AdapterProgram, AFolderOfAnAdapterStandsForItsModelToo) {
  fs::copy(models / "llama-grouped", folder_ / "llama-grouped");  // where adapter_config.json says it is
  const fs::path adapter = models / "adapters" / "llama-default",
                 reference = adapter / "reference.safetensors";
  succeed({"eval", "--from", adapter, "--ids", reference, "--logits", "logits"});
  const io::SafetensorsFile expected(reference), logits(folder_ / "logits");
  EXPECT_LT(difference(expected.at("logits"), logits.at("logits")), 1e-4);
  succeed({"merge", "--from", adapter, "--out", "merged"});
  succeed({"export", "--from", adapter, "--out", "merged.gguf", "--format", "gguf"});
}

TEST_F(AdapterProgram, MistakesAreNamed) {
  const std::string base = models / "llama-grouped", adapter = models / "adapters" / "llama-default";
  const std::string ids = models / "llama-grouped" / "reference.safetensors";
  expect_error({"eval", "--from", adapter, "--ids", ids}, 1,
               "it holds an adapter of 'llama-grouped', which is not a folder with a model.safetensors");
  expect_error({"eval", "--from", base, "--adapter", "missing", "--ids", ids}, 1, "missing");
  expect_error({"eval", "--from", base, "--adapter", base, "--ids", ids}, 1, "adapter_config.json");
  expect_error({"eval", "--from", models / "gpt2-tied", "--adapter", adapter, "--ids", ids}, 1,
               "is it for another model?");
  expect_error({"merge", "--from", base, "--out", "x"}, 1, "holds no adapter; name one with --adapter");
  expect_error({"merge", "--from", base, "--adapter", adapter, "--out", base}, 1, "name a new folder");
  expect_error({"merge", "--from", base, "--adapter", adapter}, 2, "--out");
  fs::create_directory(folder_ / "adapter");
  fs::copy_file(fs::path(adapter) / "adapter_model.safetensors",
                folder_ / "adapter" / "adapter_model.safetensors");
  folder_.write("adapter/adapter_config.json", R"({"peft_type": "LORA", "r": 2, "bias": "all"})");
  expect_error({"merge", "--from", base, "--adapter", "adapter", "--out", "x"}, 1, "bias is \"all\"");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace cladtorch::integration
