// `cladtorch eval` on folders that transformers saved, against what transformers computed with them. The
// folders and the script that made them are in tests/hf.
#include <gtest/gtest.h>

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

std::vector<std::string> reference_folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(CLADTORCH_HF_REFERENCES)) {
    if (fs::exists(entry.path() / "reference.safetensors")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<float> values(const io::StoredTensor& stored) {
  std::vector<float> result(stored.data.size() / sizeof(float));
  if (!result.empty()) std::memcpy(result.data(), stored.data.data(), stored.data.size());
  return result;
}

struct Distance {
  double largest = 0;    ///< of the differences
  double magnitude = 0;  ///< of what was expected
};

Distance distance(const io::StoredTensor& expected, const io::StoredTensor& actual) {
  EXPECT_EQ(actual.shape, expected.shape);
  EXPECT_EQ(actual.type, io::StoredType::f32);
  const std::vector<float> a = values(expected), b = values(actual);
  Distance result;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    result.largest = std::isfinite(difference) ? std::max(result.largest, difference) : INFINITY;
    result.magnitude = std::max(result.magnitude, std::abs(static_cast<double>(a[i])));
  }
  return result;
}

class HuggingFaceReference : public testing::TestWithParam<std::string> {};

TEST_P(HuggingFaceReference, HasOurScoresLossAndGradients) {
  const fs::path folder = fs::path(CLADTORCH_HF_REFERENCES) / GetParam();
  const io::TemporaryFolder out;
  const Outcome outcome =
      run({"eval", "--from", folder.string(), "--ids", (folder / "reference.safetensors").string(),
           "--logits", "logits", "--grads", "grads", "--json"},
          {.folder = out.path()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const io::SafetensorsFile reference(folder / "reference.safetensors"), logits(out / "logits"),
      grads(out / "grads");
  EXPECT_LT(distance(reference.at("logits"), logits.at("logits")).largest, 1e-4);

  const nlohmann::json printed = nlohmann::json::parse(outcome.out);
  if (reference.at("input_ids").shape[1] == 1) {  // the reference has targets of its own
    EXPECT_TRUE(printed["loss"].is_null());
    return;
  }
  const double loss = static_cast<double>(values(reference.at("loss")).at(0));
  EXPECT_NEAR(printed["loss"].get<double>(), loss, 1e-5);
  EXPECT_NEAR(printed["perplexity"].get<double>(), std::exp(loss), 1e-5 * std::exp(loss) + 1e-5);
  const std::string prefix = "gradient/";
  size_t gradients = 0;
  for (const auto& [name, expected] : reference.tensors()) {
    if (!name.starts_with(prefix)) continue;
    ++gradients;
    const Distance d = distance(expected, grads.at(name.substr(prefix.size())));
    // With a window of one token the scores have no derivative at all; what is left is rounding.
    EXPECT_LE(d.largest, 1e-3 * d.magnitude + 1e-7) << name;
  }
  EXPECT_EQ(grads.tensors().size(), gradients);
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Folders, HuggingFaceReference, testing::ValuesIn(reference_folders()), name_of);

}  // namespace
}  // namespace cladtorch::integration
