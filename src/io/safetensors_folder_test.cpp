#include "cladtorch/io/safetensors_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cladtorch/io/json.h"
#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<TensorEntry> entries = {{"wte", StoredType::f32, {4, 2}},
                                          {"h.0", StoredType::u8, {3}},
                                          {"h.1", StoredType::u8, {5}},
                                          {"ln_f", StoredType::u8, {0}}};

/// The data of entry i: its bytes count from 10 i.
TensorData counting() {
  return [bytes = std::vector<std::byte>()](size_t index) mutable -> std::span<const std::byte> {
    bytes.resize(stored_bytes("", entries[index].type, entries[index].shape));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(10 * index + i);
    return bytes;
  };
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// A folder with two shards.
void write_shards(const TemporaryFolder& folder) {
  write_safetensors_folder(folder.path(), entries, counting(), {{"format", "pt"}}, 35);
}

std::string refusal(const TemporaryFolder& folder) {
  return error_of([&] { SafetensorsFolder file(folder.path()); });
}

TEST(SafetensorsFolder, ReadsTheSameFromShardsAsFromOneFile) {
  const TemporaryFolder one, several;
  write_safetensors_folder(one.path(), entries, counting(), {{"format", "pt"}});
  write_shards(several);
  EXPECT_THAT(names_in(one.path()), ElementsAre("model.safetensors"));
  EXPECT_THAT(names_in(several.path()),
              ElementsAre("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                          "model.safetensors.index.json"));
  const SafetensorsFolder a(one.path()), b(several.path());
  EXPECT_EQ(a.metadata(), b.metadata());
  ASSERT_EQ(a.tensors().size(), entries.size());
  ASSERT_EQ(b.tensors().size(), entries.size());
  for (const auto& [name, tensor] : a.tensors()) {
    EXPECT_EQ(tensor.shape, b.at(name).shape);
    EXPECT_EQ(tensor.type, b.at(name).type);
    EXPECT_TRUE(std::ranges::equal(tensor.data, b.at(name).data)) << name;
  }
  EXPECT_EQ(read_json(several / "model.safetensors.index.json")["metadata"]["total_size"], 40);
  EXPECT_THAT(error_of([&] { b.at("nothing"); }), HasSubstr("index.json"));
}

TEST(SafetensorsFolder, ATensorLargerThanAShardHasOneOfItsOwn) {
  const TemporaryFolder folder;
  write_safetensors_folder(folder.path(), entries, counting(), {}, 4);
  EXPECT_EQ(names_in(folder.path()).size(), 5u);  // wte, h.0, h.1, the empty ln_f, the index
  EXPECT_EQ(SafetensorsFolder(folder.path()).at("h.1").data.back(), std::byte{24});
}

TEST(SafetensorsFolder, TakesAnotherStemAndPrefersTheSingleFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(SafetensorsFolder::exists(folder.path()));
  EXPECT_THAT(refusal(folder), HasSubstr("model.safetensors': no such file"));
  write_shards(folder);
  write_safetensors(folder / "model.safetensors", {{"a", {StoredType::u8, {0}, {}}}});
  EXPECT_TRUE(SafetensorsFolder::exists(folder.path()));
  EXPECT_FALSE(SafetensorsFolder::exists(folder.path(), "adapter_model"));
  EXPECT_EQ(SafetensorsFolder(folder.path()).tensors().size(), 1u);
}

TEST(SafetensorsFolder, RefusesAnIndexThatDoesNotFitItsShards) {
  const TemporaryFolder folder;
  write_shards(folder);
  const auto with_map = [&](const std::string& map) {
    folder.write("model.safetensors.index.json",
                 R"({"metadata":{"total_size":[40]},"weight_map":)" + map + "}");
    return refusal(folder);
  };
  const std::string first = R"("model-00001-of-00002.safetensors")";
  EXPECT_EQ(with_map(R"({"wte":)" + first + "}"), "");
  EXPECT_THAT(with_map(R"({"h.1":)" + first + "}"), HasSubstr("'h.1' is not in 'model-00001-of-00002"));
  EXPECT_THAT(with_map(R"({"a":"missing.safetensors"})"), HasSubstr("missing.safetensors': no such file"));
  EXPECT_THAT(with_map(R"({"a":"../model.safetensors"})"), HasSubstr("no .safetensors file of this folder"));
  EXPECT_THAT(with_map(R"({"a":"/etc/passwd"})"), HasSubstr("no .safetensors file of this folder"));
  EXPECT_THAT(with_map(R"({"a":"x.bin"})"), HasSubstr("no .safetensors file of this folder"));
  EXPECT_THAT(with_map(R"({"wte":)" + first + R"(,"wte":)" + first + "}"), HasSubstr("'wte' appears twice"));
  EXPECT_THAT(with_map(R"({"a":1})"), HasSubstr("the file of 'a' is not a string"));
  EXPECT_THAT(with_map(R"({"a":{}})"), HasSubstr("the file of 'a' is not a string"));
  EXPECT_THAT(with_map("[]"), HasSubstr("weight_map is not an object"));
  EXPECT_THAT(with_map(R"({},"weight_map":{})"), HasSubstr("two weight_map"));
  for (const auto& [text, reason] : {std::pair{"{}", "no weight_map"},
                                     {"[]", "not a JSON object"},
                                     {"3", "not a JSON object"},
                                     {"{", "not JSON at byte"},
                                     {"", "not JSON"}}) {
    folder.write("model.safetensors.index.json", text);
    EXPECT_THAT(refusal(folder), HasSubstr(reason)) << text;
  }
}

TEST(SafetensorsFolder, NamesTheShardThatIsDamaged) {
  const TemporaryFolder folder;
  write_shards(folder);
  fs::resize_file(folder / "model-00002-of-00002.safetensors", 100);
  EXPECT_THAT(refusal(folder), HasSubstr("model-00002-of-00002.safetensors': not a valid safetensors file"));
}

TEST(WriteSafetensorsFolder, DoesNotMixTwoCheckpoints) {
  const TemporaryFolder folder;
  write_shards(folder);
  for (const uint64_t limit : {uint64_t{35}, default_shard_bytes}) {
    EXPECT_THAT(error_of([&] { write_safetensors_folder(folder.path(), entries, counting(), {}, limit); }),
                HasSubstr("name a new folder"));
  }
  EXPECT_EQ(refusal(folder), "");
}

TEST(WriteSafetensorsFolder, LeavesNoShardBehindWhenALaterOneFails) {
  const TemporaryFolder folder;
  const TensorData failing = [data = counting()](size_t index) {
    if (index == 2) fail("the disk is full");
    return data(index);
  };
  EXPECT_EQ(error_of([&] { write_safetensors_folder(folder.path(), entries, failing, {}, 4); }),
            "the disk is full");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace cladtorch::io
