#include "cladtorch/io/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

using testing::HasSubstr;

/// Takes a file apart again, from its first byte on.
class Parts {
 public:
  explicit Parts(std::string content) : content_(std::move(content)) {}

  template <class T>
  T number() {
    T value{};
    EXPECT_LE(at_ + sizeof value, content_.size());
    std::memcpy(&value, content_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text(size_t bytes) {
    EXPECT_LE(at_ + bytes, content_.size());
    at_ += bytes;
    return content_.substr(at_ - bytes, bytes);
  }
  std::string string() { return text(number<uint64_t>()); }
  void skip_to_multiple_of(size_t alignment) {
    while (at_ % alignment != 0) EXPECT_EQ(content_[at_++], '\0');
  }
  size_t at() const { return at_; }
  bool ended() const { return at_ == content_.size(); }

 private:
  std::string content_;
  size_t at_ = 0;
};

TEST(Gguf, WritesTheLayoutOfVersion3) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<uint16_t> b = {7, 8, 9};
  const std::vector<TensorEntry> entries = {{"a.weight", StoredType::f32, {2, 3}},
                                            {"b", StoredType::bf16, {3}}};
  write_gguf(folder / "x.gguf",
             {{"general.architecture", std::string("gpt2")},
              {"count", uint32_t{3}},
              {"negative", int32_t{-3}},
              {"epsilon", 1e-5f},
              {"flag", true},
              {"large", uint64_t{1} << 40},
              {"tokens", std::vector<std::string>{"a", "",
                                                  "\xc4\xa0"
                                                  "b"}},
              {"types", std::vector<int32_t>{1, 3}},
              {"scores", std::vector<float>{0.5f}}},
             entries,
             [&](size_t i) { return i == 0 ? std::as_bytes(std::span(a)) : std::as_bytes(std::span(b)); });

  Parts file(folder.read("x.gguf"));
  EXPECT_EQ(file.text(4), "GGUF");
  EXPECT_EQ(file.number<uint32_t>(), 3u);
  EXPECT_EQ(file.number<uint64_t>(), 2u);
  EXPECT_EQ(file.number<uint64_t>(), 9u);
  const auto key = [&](const char* name, uint32_t type) {
    EXPECT_EQ(file.string(), name);
    EXPECT_EQ(file.number<uint32_t>(), type) << name;
  };
  key("general.architecture", 8);
  EXPECT_EQ(file.string(), "gpt2");
  key("count", 4);
  EXPECT_EQ(file.number<uint32_t>(), 3u);
  key("negative", 5);
  EXPECT_EQ(file.number<int32_t>(), -3);
  key("epsilon", 6);
  EXPECT_EQ(file.number<float>(), 1e-5f);
  key("flag", 7);
  EXPECT_EQ(file.number<uint8_t>(), 1);
  key("large", 10);
  EXPECT_EQ(file.number<uint64_t>(), uint64_t{1} << 40);
  key("tokens", 9);
  EXPECT_EQ(file.number<uint32_t>(), 8u);
  EXPECT_EQ(file.number<uint64_t>(), 3u);
  EXPECT_EQ(file.string(), "a");
  EXPECT_EQ(file.string(), "");
  EXPECT_EQ(file.string(),
            "\xc4\xa0"
            "b");
  key("types", 9);
  EXPECT_EQ(file.number<uint32_t>(), 5u);
  EXPECT_EQ(file.number<uint64_t>(), 2u);
  EXPECT_EQ(file.number<int32_t>(), 1);
  EXPECT_EQ(file.number<int32_t>(), 3);
  key("scores", 9);
  EXPECT_EQ(file.number<uint32_t>(), 6u);
  EXPECT_EQ(file.number<uint64_t>(), 1u);
  EXPECT_EQ(file.number<float>(), 0.5f);

  EXPECT_EQ(file.string(), "a.weight");
  EXPECT_EQ(file.number<uint32_t>(), 2u);
  EXPECT_EQ(file.number<uint64_t>(), 3u);  // the contiguous dimension first
  EXPECT_EQ(file.number<uint64_t>(), 2u);
  EXPECT_EQ(file.number<uint32_t>(), 0u);
  EXPECT_EQ(file.number<uint64_t>(), 0u);
  EXPECT_EQ(file.string(), "b");
  EXPECT_EQ(file.number<uint32_t>(), 1u);
  EXPECT_EQ(file.number<uint64_t>(), 3u);
  EXPECT_EQ(file.number<uint32_t>(), 30u);
  EXPECT_EQ(file.number<uint64_t>(), 32u);
  file.skip_to_multiple_of(32);
  for (const float value : a) EXPECT_EQ(file.number<float>(), value);
  file.skip_to_multiple_of(32);
  for (const uint16_t value : b) EXPECT_EQ(file.number<uint16_t>(), value);
  file.skip_to_multiple_of(32);
  EXPECT_TRUE(file.ended());
}

TEST(Gguf, RefusesWhatTheFormatCannotHold) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes(8);
  const auto refusal = [&](const GgufMetadata& metadata, const std::vector<TensorEntry>& entries) {
    return error_of([&] {
      write_gguf(folder / "x.gguf", metadata, entries,
                 [&](size_t) { return std::span<const std::byte>(bytes); });
    });
  };
  EXPECT_THAT(refusal({{"a", true}, {"a", true}}, {}), HasSubstr("'a' is given twice"));
  EXPECT_THAT(refusal({}, {{"a", StoredType::f64, {1}}, {"a", StoredType::f64, {1}}}),
              HasSubstr("two tensors"));
  EXPECT_THAT(refusal({}, {{"a", StoredType::u64, {1}}}), HasSubstr("no place for 'a', which is U64 [1]"));
  EXPECT_THAT(refusal({}, {{"a", StoredType::f64, {1, 1, 1, 1, 1}}}), HasSubstr("no place for 'a'"));
  EXPECT_THAT(refusal({}, {{std::string(64, 'a'), StoredType::f64, {1}}}), HasSubstr("no place for 'aaa"));
  EXPECT_THAT(refusal({}, {{"a", StoredType::f32, {1}}}), HasSubstr("'a' needs 4 bytes, got 8"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace cladtorch::io
