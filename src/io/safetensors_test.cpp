#include "cladtorch/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A file with `header` as it stands and `data_bytes` zero bytes after it.
std::string file_with(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  return content + header + std::string(data_bytes, '\0');
}

std::string refusal(const std::string& content) {
  TemporaryFolder folder;
  write_file(folder / "x.safetensors", content);
  const std::string message = error_of([&] { SafetensorsFile file(folder / "x.safetensors"); });
  EXPECT_TRUE(message.empty() || message.find("x.safetensors") != std::string::npos) << message;
  return message;
}

TEST(Safetensors, ReadsBackNamesShapesTypesDataAndMetadata) {
  TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<uint16_t> b = {7};
  write_safetensors(folder / "x",
                    {{"h.0.a", {StoredType::f32, {2, 3}, std::as_bytes(std::span(a))}},
                     {"b", {StoredType::bf16, {}, std::as_bytes(std::span(b))}},
                     {"empty", {StoredType::f64, {0, 4}, {}}}},
                    {{"format", "pt"}});
  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.at("h.0.a").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file.at("h.0.a").data.data(), a.data(), 24), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.at("h.0.a").data.data()) % 8, 0u);
  EXPECT_EQ(file.at("b").type, StoredType::bf16);
  EXPECT_EQ(file.at("b").data.size(), 2u);
  EXPECT_EQ(file.at("empty").data.size(), 0u);
  EXPECT_THAT(error_of([&] { file.at("wte"); }), HasSubstr("no tensor 'wte'"));
}

TEST(Safetensors, AcceptsAFileWrittenByHand) {
  EXPECT_EQ(refusal(file_with(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]},)"
                              R"("a":{"dtype":"F16","shape":[1,1],"data_offsets":[0,2]}}   )",
                              6)),
            "");
}

TEST(Safetensors, RefusesAHeaderThatIsCutOffOrTooLong) {
  EXPECT_THAT(refusal("abc"), HasSubstr("only 3 bytes"));
  EXPECT_THAT(refusal(std::string("\x10\0\0\0\0\0\0\0{}", 10)), HasSubstr("cut off"));
  EXPECT_THAT(refusal(std::string("\0\0\0\0\0\0\0\x7f{}", 10)), HasSubstr("header would have"));
  EXPECT_THAT(refusal("PK\3\4PyTorch files are zip archives"), HasSubstr("header would have"));
}

TEST(Safetensors, RefusesAHeaderThatIsNotAnObjectOfTensors) {
  EXPECT_THAT(refusal(file_with("{", 0)), HasSubstr("not JSON"));
  for (const char* header : {"", "[]", "3", " {}"}) {
    EXPECT_THAT(refusal(file_with(header, 0)), HasSubstr("not a JSON object")) << header;
  }
  EXPECT_THAT(refusal(file_with("{} {}", 0)), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(file_with(R"({"a":[{}]})", 0)), HasSubstr("'a' is not described"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":[]})", 0)), HasSubstr("__metadata__ is not an object"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{"a":["b"]}})", 0)), HasSubstr("not a string"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":1,"shape":[],"data_offsets":[0,4]}})", 4)),
              HasSubstr("dtype of 'a' is 1"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4]}})", 4)),
              HasSubstr("expected two"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"U8","shape":{},"data_offsets":[0,4]}})", 4)),
              HasSubstr("shape of 'a' is an object"));
  EXPECT_THAT(refusal(file_with(R"({"a":1})", 0)), HasSubstr("'a' is not described"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{"a":1}})", 0)), HasSubstr("not a string"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4)), HasSubstr("no dtype"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"F31","shape":[],"data_offsets":[0,4]}})", 4)),
              HasSubstr("F31"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4)),
              HasSubstr("-1"));
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"F32","shape":[]}})", 4)), HasSubstr("no data_offsets"));
}

TEST(Safetensors, RefusesADuplicateName) {
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                2)),
              HasSubstr("'a' appears twice"));
}

TEST(Safetensors, RefusesDuplicateFieldsAndMetadata) {
  EXPECT_THAT(refusal(file_with(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1)),
              HasSubstr("'shape' appears twice"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{"a":"1","a":"1"}})", 0)), HasSubstr("'a' appears twice"));
  EXPECT_THAT(refusal(file_with(R"({"__metadata__":{},"__metadata__":{}})", 0)),
              HasSubstr("'__metadata__' appears twice"));
}

TEST(Safetensors, PassesOverFieldsItDoesNotKnow) {
  EXPECT_EQ(refusal(file_with(R"({"a":{"extra":{"dtype":[{"shape":3}]},"more":[[1,"x"],{}],"dtype":"U8",)"
                              R"("no":null,"shape":[1],"data_offsets":[0,1]}})",
                              1)),
            "");
}

TEST(Safetensors, ReadsEveryTypeThatTheReferenceImplementationWrites) {
  const SafetensorsFile file(CLADTORCH_TYPES_FILE);
  std::set<StoredType> seen;
  for (const auto& [name, tensor] : file.tensors()) seen.insert(tensor.type);
  // PyTorch has no 6-bit floats; F4 counts its packed elements one by one.
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(file.at("F4").shape, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(file.at("F4").data.size(), 6u);
  EXPECT_EQ(file.at("C64").data.size(), 16u);
}

TEST(Safetensors, SizesPackedTypesInBits) {
  const auto packed = [](const char* type, const char* shape, size_t bytes) {
    return refusal(file_with(std::string(R"({"a":{"dtype":")") + type + R"(","shape":)" + shape +
                                 R"(,"data_offsets":[0,)" + std::to_string(bytes) + "]}}",
                             bytes));
  };
  EXPECT_EQ(packed("F4", "[3,2]", 3), "");
  EXPECT_EQ(packed("F6_E2M3", "[4]", 3), "");
  EXPECT_EQ(packed("F6_E3M2", "[2,4]", 6), "");
  EXPECT_THAT(packed("F4", "[3]", 2), HasSubstr("ends within a byte"));
  EXPECT_THAT(packed("F6_E2M3", "[3]", 3), HasSubstr("ends within a byte"));
  EXPECT_THAT(packed("F4", "[6]", 6), HasSubstr("its range holds 6"));
}

TEST(Safetensors, RefusesRangesThatDoNotFitOverlapOrLeaveHoles) {
  const auto two = [](const char* a, const char* b, size_t bytes) {
    return refusal(file_with(std::string(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)") + a +
                                 R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}",
                             bytes));
  };
  EXPECT_EQ(two("[0,2]", "[2,4]", 4), "");
  EXPECT_THAT(two("[0,2]", "[1,3]", 4), HasSubstr("overlaps"));
  EXPECT_THAT(two("[0,2]", "[0,2]", 4), HasSubstr("overlaps"));
  EXPECT_THAT(two("[0,2]", "[3,5]", 5), HasSubstr("hole"));
  EXPECT_THAT(two("[0,2]", "[2,4]", 5), HasSubstr("after the last"));
  EXPECT_THAT(two("[0,2]", "[2,4]", 3), HasSubstr("cut off"));
  EXPECT_THAT(two("[0,3]", "[3,5]", 5), HasSubstr("range holds 3"));
  EXPECT_THAT(two("[2,0]", "[2,4]", 4), HasSubstr("lies at bytes"));
}

TEST(Safetensors, RefusesAShapeThatOverflows) {
  for (const char* shape :
       {"[4294967296,4294967296]", "[4294967296,4294967296,0]", "[0,4294967296,4294967296]",
        "[9223372036854775807]", "[2305843009213693952,2]"}) {
    EXPECT_THAT(
        refusal(file_with(
            std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,0]}})", 0)),
        HasSubstr("overflows"))
        << shape;
  }
}

TEST(Safetensors, RefusesDimensionsThatNoTensorHas) {
  for (const char* shape : {"[0,18446744073709551615]", "[1e999]", "[1.0]", "[[1]]", "[{}]", "[true]"}) {
    EXPECT_NE(refusal(file_with(
                  std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,0]}})", 0)),
              "")
        << shape;
  }
}

TEST(Safetensors, RefusesMoreDimensionsThanAnyTensorHas) {
  std::string shape = "0";
  for (int i = 1; i < 65; ++i) shape += ",0";
  EXPECT_THAT(
      refusal(file_with(R"({"a":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[0,0]}})", 0)),
      HasSubstr("longer than 64"));
}

TEST(Safetensors, RefusesEveryTruncationOfAGoodFile) {
  TemporaryFolder folder;
  const float value = 1.5f;
  write_safetensors(folder / "x", {{"a", {StoredType::f32, {1}, std::as_bytes(std::span(&value, 1))}}});
  const std::string content = read_file(folder / "x");
  for (size_t size = 0; size < content.size(); ++size)
    EXPECT_NE(refusal(content.substr(0, size)), "") << size;
}

TEST(WriteSafetensors, RefusesDuplicatesAndDataThatDoNotFit) {
  TemporaryFolder folder;
  const float value = 1.5f;
  const StoredTensor one{StoredType::f32, {1}, std::as_bytes(std::span(&value, 1))};
  EXPECT_THAT(error_of([&] { write_safetensors(folder / "x", {{"a", one}, {"a", one}}); }),
              HasSubstr("two tensors"));
  EXPECT_THAT(error_of([&] { write_safetensors(folder / "x", {{"a", {StoredType::f64, {1}, one.data}}}); }),
              AllOf(HasSubstr("needs 8 bytes"), HasSubstr("got 4")));
  EXPECT_THAT(error_of([&] { write_safetensors(folder / "x", {{"__metadata__", one}}); }),
              HasSubstr("two tensors"));
  EXPECT_THAT(error_of([&] { write_safetensors(folder / "x", {{"a", {StoredType::u8, {-4}, one.data}}}); }),
              HasSubstr("a dimension of -4"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace
}  // namespace cladtorch::io
