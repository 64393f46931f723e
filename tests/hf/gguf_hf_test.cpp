// GGUF files of Llama and Mistral against what llama.cpp's own Python package says that they hold;
// gguf_facts.py writes the facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "cladtorch/formats/gguf.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"
#include "tests/hf/hf_reference.h"
#include "tests/support/gguf_contents.h"

namespace cladtorch::formats {
namespace {

using nlohmann::json;
using testing_support::GgufContents;

constexpr const char* rope_factors = "rope_freqs.weight";

json all_facts() {
  return json::parse(io::read_file(cladtorch::testing::HFReference::folder("gguf_facts.json")));
}

std::string hash_of(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

class GgufFile : public ::testing::TestWithParam<json> {
 protected:
  GgufFile() : contents(exported()) {}

  static std::string exported() {
    const auto source = cladtorch::testing::HFReference::folder(GetParam()["folder"]);
    const io::TemporaryFolder folder;
    const io::StoredType type = GetParam()["type"] == "f16" ? io::StoredType::f16 : io::StoredType::f32;
    save_gguf(*load_model(source), folder / "m.gguf", type, source);
    return folder.read("m.gguf");
  }

  const GgufContents contents;
};

TEST_P(GgufFile, HasTheKeysOfLlamaCpp) {
  EXPECT_EQ(contents.strings.at("general.architecture"), "llama");
  for (const auto& [key, value] : GetParam()["keys"].items()) {
    if (value.is_string()) {
      EXPECT_EQ(json(contents.strings.at(key)), value) << key;
    } else if (contents.counts.contains(key)) {
      EXPECT_EQ(json(contents.counts.at(key)), value) << key;
    } else {
      ASSERT_TRUE(contents.reals.contains(key)) << key;
      EXPECT_FLOAT_EQ(contents.reals.at(key), value.get<float>()) << key;
    }
  }
  const bool window = GetParam()["keys"].contains("llama.attention.sliding_window");
  EXPECT_EQ(contents.counts.contains("llama.attention.sliding_window"), window);
}

TEST_P(GgufFile, HasTheTensorsOfLlamaCppBitForBit) {
  const json& expected = GetParam()["tensors"];
  EXPECT_EQ(contents.tensors.size(), expected.size() + (GetParam().contains(rope_factors) ? 1 : 0));
  for (const auto& [name, fact] : expected.items()) {
    ASSERT_TRUE(contents.tensors.contains(name)) << name;
    const testing_support::GgufTensor& tensor = contents.tensors.at(name);
    EXPECT_EQ(json(tensor.dimensions), fact["dimensions"]) << name;
    EXPECT_EQ(json(tensor.type), fact["type"]) << name;
    size_t bytes = tensor.type == 1 ? 2 : 4;
    for (uint64_t dimension : tensor.dimensions) bytes *= dimension;
    EXPECT_EQ(json(hash_of(tensor.data.substr(0, bytes))), fact["hash"]) << name;
  }
}

TEST_P(GgufFile, HasTheFactorsOfScaledRotaryFrequencies) {
  EXPECT_EQ(contents.tensors.contains(rope_factors), GetParam().contains(rope_factors));
  if (!GetParam().contains(rope_factors)) return;
  const auto expected = GetParam()[rope_factors].get<std::vector<float>>();
  const testing_support::GgufTensor& tensor = contents.tensors.at(rope_factors);
  ASSERT_EQ(json(tensor.dimensions), json({expected.size()}));
  std::vector<float> found(expected.size());
  std::memcpy(found.data(), tensor.data.data(), found.size() * sizeof(float));
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5f * expected[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Llama, GgufFile, ::testing::ValuesIn(all_facts()), [](const auto& info) {
  std::string name = info.param["folder"];
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace cladtorch::formats
