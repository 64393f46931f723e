#include "cladtorch/formats/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/llmc.h"
#include "cladtorch/io/conversion.h"
#include "cladtorch/io/json.h"
#include "cladtorch/io/safetensors_folder.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

/// A folder "source" with a small GPT-2.
struct Convert : testing::Test {
  Convert() {
    fs::create_directory(source);
    save_model(*as_language_model(GPT2(config, 3)), source);
  }

  /// Stores each tensor of "source" as the next one of `types`.
  void mix_types(const std::vector<io::StoredType>& types) {
    std::vector<io::TensorEntry> entries;
    std::vector<std::vector<std::byte>> data;
    {
      const io::SafetensorsFolder file(source);
      for (const auto& [name, tensor] : file.tensors()) {
        std::vector<float> values(static_cast<size_t>(io::element_count(tensor)));
        io::to_float32(tensor, values);
        entries.push_back({name, types[entries.size() % types.size()], tensor.shape});
        data.emplace_back(io::stored_bytes(name, entries.back().type, tensor.shape));
        io::from_float32(values, entries.back().type, data.back());
      }
    }
    io::write_safetensors(source / "model.safetensors", entries,
                          [&](size_t i) { return std::span(data[i]); });
  }

  static void expect_same_tensors(const fs::path& a, const fs::path& b) {
    const io::SafetensorsFolder x(a), y(b);
    ASSERT_EQ(x.tensors().size(), y.tensors().size());
    for (const auto& [name, tensor] : x.tensors()) {
      const io::StoredTensor& other = y.at(name);
      EXPECT_EQ(tensor.type, other.type) << name;
      EXPECT_EQ(tensor.shape, other.shape) << name;
      EXPECT_TRUE(std::ranges::equal(tensor.data, other.data)) << name;
    }
  }

  const GPT2Config config = {.vocab_size = 65, .n_positions = 8, .n_layer = 2, .n_head = 2, .n_embd = 16};
  const TemporaryFolder folder;
  const fs::path source = folder / "source";
};

TEST_F(Convert, AFolderComesBackBitForBitWhateverTypesItHas) {
  using enum io::StoredType;
  for (const auto& types : {std::vector{f32}, {bf16}, {f16}, {f64}, {bf16, f32}, {f16, f32, bf16, f64}}) {
    mix_types(types);
    convert_model(source, folder / "ours", {});
    convert_model(folder / "ours", folder / "back", {});
    expect_same_tensors(source, folder / "ours");
    expect_same_tensors(source, folder / "back");
    fs::remove_all(folder / "ours");
    fs::remove_all(folder / "back");
  }
}

TEST_F(Convert, ShardsAndOneFileHoldTheSame) {
  convert_model(source, folder / "shards", {.shard_bytes = 8000});
  EXPECT_TRUE(fs::exists(folder / "shards" / "model.safetensors.index.json"));
  EXPECT_FALSE(fs::exists(folder / "shards" / "model.safetensors"));
  convert_model(folder / "shards", folder / "one", {});
  EXPECT_TRUE(fs::exists(folder / "one" / "model.safetensors"));
  expect_same_tensors(source, folder / "shards");
  expect_same_tensors(source, folder / "one");
}

TEST_F(Convert, AFileOfLlmcComesBackBitForBit) {
  for (const io::StoredType type : {io::StoredType::f32, io::StoredType::bf16}) {
    save_llmc(*load_model(source), folder / "a.bin", type);
    EXPECT_EQ(format_of(folder / "a.bin"), ModelFormat::llmc);
    convert_model(folder / "a.bin", folder / "hf", {});
    EXPECT_EQ(io::SafetensorsFolder(folder / "hf").tensors().begin()->second.type, type);
    convert_model(folder / "hf", folder / "b.bin", {.format = ModelFormat::llmc});
    EXPECT_EQ(folder.read("a.bin"), folder.read("b.bin"));
    fs::remove_all(folder / "hf");
  }
}

TEST_F(Convert, RoundsToTheTypeThatIsAskedFor) {
  convert_model(source, folder / "half", {.type = io::StoredType::f16});
  const io::SafetensorsFolder wide(source), narrow(folder / "half");
  for (const auto& [name, tensor] : wide.tensors()) {
    std::vector<float> values(static_cast<size_t>(io::element_count(tensor)));
    io::to_float32(tensor, values);
    std::vector<std::byte> expected(values.size() * 2);
    io::from_float32(values, io::StoredType::f16, expected);
    EXPECT_TRUE(std::ranges::equal(narrow.at(name).data, expected)) << name;
  }
}

TEST_F(Convert, KeepsTheTokenizerAndKeysThatOnlyOthersRead) {
  io::Json json = io::read_json(source / "config.json");
  json["eos_token_id"] = 50256;
  json["task_specific_params"] = {{"text-generation", {{"max_length", 50}}}};
  json["dtype"] = "bfloat16";
  io::write_json(source / "config.json", json);
  folder.write("source/tokenizer.json", R"({"model":{"type":"BPE"}})");
  convert_model(source, folder / "copy", {.type = io::StoredType::f16});
  const io::Json copy = io::read_json(folder / "copy" / "config.json");
  EXPECT_EQ(copy["eos_token_id"], 50256);
  EXPECT_EQ(copy["task_specific_params"], json["task_specific_params"]);
  EXPECT_EQ(copy["torch_dtype"], "float16");
  EXPECT_EQ(copy["dtype"], "float16");
  EXPECT_EQ(folder.read("copy/tokenizer.json"), R"({"model":{"type":"BPE"}})");
}

TEST_F(Convert, GivesTheFilesOfTheOriginalVocabularyTheNamesOfTransformers) {
  folder.write("source/encoder.json", R"({"a":0})");
  folder.write("source/vocab.bpe", "#version: 0.2\n");
  convert_model(source, folder / "copy", {});
  EXPECT_EQ(folder.read("copy/vocab.json"), R"({"a":0})");
  EXPECT_EQ(folder.read("copy/merges.txt"), "#version: 0.2\n");
}

TEST_F(Convert, TouchesNoFolderThatHoldsFiles) {
  folder.write("full/notes.txt", "mine");
  EXPECT_THAT(error_of([&] { convert_model(source, folder / "full", {}); }), HasSubstr("name a new folder"));
  EXPECT_THAT(error_of([&] { convert_model(source, source, {}); }), HasSubstr("name a new folder"));
  fs::create_directory(folder / "empty");
  convert_model(source, folder / "empty", {});
  convert_model(source, (folder / "new" / "deep").string() + "/", {});
  expect_same_tensors(source, folder / "new" / "deep");
  EXPECT_EQ(folder.read("full/notes.txt"), "mine");
}

TEST_F(Convert, LeavesNothingWhenItFails) {
  const std::string weights = folder.read("source/model.safetensors");
  folder.write("source/model.safetensors", weights.substr(0, weights.size() - 4));
  EXPECT_THAT(error_of([&] { convert_model(source, folder / "copy", {}); }), HasSubstr("cut off"));
  folder.write("source/model.safetensors", weights);
  folder.write("source/tokenizer.json",
               R"({"model":{"type":"BPE","vocab":{"a":99}},"pre_tokenizer":{"type":"ByteLevel"}})");
  EXPECT_THAT(error_of([&] { convert_model(source, folder / "copy", {.format = ModelFormat::gguf}); }),
              HasSubstr("'a' has the number 99, but the model has 65 tokens"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST_F(Convert, SaysWhatItCannotRead) {
  EXPECT_THAT(error_of([&] { format_of(folder / "missing"); }), HasSubstr("no such file or folder"));
  EXPECT_THAT(error_of([&] { format_of(folder.path()); }), HasSubstr("no model.safetensors"));
  EXPECT_THAT(error_of([&] { format_of(folder.write("text", "text")); }), HasSubstr("neither a folder"));
}

}  // namespace
}  // namespace cladtorch::formats
