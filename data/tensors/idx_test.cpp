#include "cladtorch/data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/error.h"
#include "data/text/compress.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string big_endian(uint32_t word) {
  return {static_cast<char>(word >> 24), static_cast<char>(word >> 16), static_cast<char>(word >> 8),
          static_cast<char>(word)};
}

std::string idx(char code, const std::vector<uint32_t>& shape, const std::string& elements) {
  std::string file = {0, 0, code, static_cast<char>(shape.size())};
  for (const uint32_t extent : shape) file += big_endian(extent);
  return file + elements;
}

template <class T>
std::vector<T> values(const Tensor& x) {
  return {x.data<T>(), x.data<T>() + x.numel()};
}

class Idx : public ::testing::Test {
 protected:
  Tensor read(const std::string& content, const IdxOptions& options = {}) {
    return read_idx(folder_.write("file", content), options);
  }
  std::string error_of(const std::string& content, const IdxOptions& options = {}) {
    const std::string message = io::error_of([&] { read(content, options); });
    EXPECT_THAT(message, StartsWith("read_idx: '" + (folder_ / "file").string() + "'"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  io::TemporaryFolder folder_;
};

TEST_F(Idx, MakesBytesOfSeveralDimensionsNumbersFrom0To1) {
  const Tensor images = read(idx(8, {2, 1, 3}, std::string("\x00\x01\x80\xff\x02\x03", 6)));
  EXPECT_EQ(images.shape(), (Shape{2, 1, 3}));
  EXPECT_THAT(values<float>(images),
              ElementsAre(0.0f, 1 / 255.0f, 128 / 255.0f, 1.0f, 2 / 255.0f, 3 / 255.0f));
}

TEST_F(Idx, DividesEveryByteExactly) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::vector<float> found = values<float>(read(idx(8, {16, 16}, bytes)));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(found[static_cast<size_t>(i)], static_cast<float>(i) / 255.0f);
}

TEST_F(Idx, MakesBytesOfOneDimensionIntegers) {
  const Tensor labels = read(idx(8, {3}, std::string("\x09\x00\xff", 3)));
  EXPECT_EQ(labels.shape(), (Shape{3}));
  EXPECT_THAT(values<int32_t>(labels), ElementsAre(9, 0, 255));
}

TEST_F(Idx, ReadsEveryType) {
  EXPECT_THAT(values<int32_t>(read(idx(9, {2}, "\xff\x7f"))), ElementsAre(-1, 127));
  EXPECT_THAT(values<int32_t>(read(idx(0x0b, {1, 2}, "\xff\xfe\x01\x02"))), ElementsAre(-2, 258));
  EXPECT_THAT(values<int32_t>(read(idx(0x0c, {1}, "\x01\x02\x03\x04"))), ElementsAre(0x01020304));
  EXPECT_THAT(values<float>(read(idx(0x0d, {1}, big_endian(std::bit_cast<uint32_t>(-1.5f))))),
              ElementsAre(-1.5f));
  const auto bits = std::bit_cast<uint64_t>(0.1);
  const std::string element =
      big_endian(static_cast<uint32_t>(bits >> 32)) + big_endian(static_cast<uint32_t>(bits));
  EXPECT_THAT(values<double>(read(idx(0x0e, {1}, element))), ElementsAre(0.1));
}

TEST_F(Idx, GivesTheTypeAndScaleThatAreAskedFor) {
  const std::string image = idx(8, {1, 2}, "\x03\x7f"), labels = idx(8, {2}, "\x03\x7f");
  EXPECT_THAT(values<int32_t>(read(image, {.dtype = DType::int32})), ElementsAre(3, 127));
  EXPECT_THAT(values<float>(read(image, {.scale = 1})), ElementsAre(3, 127));
  EXPECT_THAT(values<double>(read(image, {.dtype = DType::float64})), ElementsAre(3 / 255.0, 127 / 255.0));
  EXPECT_THAT(values<float>(read(labels, {.dtype = DType::float32})), ElementsAre(3, 127));
  const Tensor rounded = read(image, {.dtype = DType::bfloat16, .scale = 2});
  EXPECT_EQ(static_cast<float>(rounded.data<bfloat16>()[1]), 254);
}

TEST_F(Idx, TakesScalarsAndEmptyArrays) {
  EXPECT_EQ(read(idx(9, {}, "\x05")).item(), 5);
  EXPECT_EQ(read(idx(8, {0, 28, 28}, "")).shape(), (Shape{0, 28, 28}));
}

TEST_F(Idx, ReadsGzipWhateverTheNameSays) {
  const std::string content = idx(8, {3}, "abc");
  EXPECT_THAT(values<int32_t>(read(gzip(content))), ElementsAre('a', 'b', 'c'));
  // A file of two members is their contents one after the other.
  EXPECT_THAT(values<int32_t>(read(gzip(content.substr(0, 5)) + gzip(content.substr(5)))),
              ElementsAre('a', 'b', 'c'));
}

TEST_F(Idx, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(error_of(""), HasSubstr("is no IDX file"));
  EXPECT_THAT(error_of("PK\x03\x04"), HasSubstr("is no IDX file"));
  EXPECT_THAT(error_of(idx(7, {1}, "a")), HasSubstr("is no IDX file"));
  EXPECT_THAT(error_of(idx(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "a")),
              EndsWith("has 9 dimensions, expected at most 8"));
  EXPECT_THAT(error_of(idx(8, {2, 2}, "").substr(0, 11)), EndsWith("ends too early; was it copied whole?"));
  EXPECT_THAT(error_of(idx(8, {2, 2}, "abc")),
              EndsWith("ends too early: its header says [2,2] elements of 1 byte, but only 3 follow"));
  EXPECT_THAT(error_of(idx(0x0c, {2}, "abcdabc")),
              EndsWith("ends too early: its header says [2] elements of 4 bytes, but only 1 follow"));
  EXPECT_THAT(error_of(idx(8, {2, 2}, "abcdef")),
              EndsWith("has 2 bytes after the [2,2] elements that its header says"));
  EXPECT_THAT(error_of(idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, "abc")), HasSubstr("ends too early"));
  EXPECT_THAT(error_of(idx(8, {0, 0xffffffff, 0xffffffff}, "")), HasSubstr("ends too early"));
}

TEST_F(Idx, SaysWhatIsWrongWithCompressedFiles) {
  const std::string packed = gzip(idx(8, {300}, std::string(300, 'x')));
  EXPECT_THAT(error_of(packed.substr(0, packed.size() - 9)), HasSubstr("ends too early"));
  EXPECT_THAT(error_of(packed + "more"), HasSubstr("bytes after the end of its gzip data"));
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_THAT(error_of(damaged), HasSubstr("is damaged gzip"));
}

TEST_F(Idx, SaysWhatCannotBeAskedFor) {
  EXPECT_THAT(error_of(idx(0x0d, {1}, "abcd"), {.dtype = DType::int32}), HasSubstr("ask for float32"));
  EXPECT_THAT(error_of(idx(8, {1}, "a"), {.scale = 0.5}), HasSubstr("ask for float32"));
  EXPECT_THAT(error_of(idx(8, {1}, "a"), {.dtype = DType::float8_e4m3}), EndsWith("got float8_e4m3"));
  const std::string missing = io::error_of([&] { read_idx(folder_ / "missing"); });
  EXPECT_THAT(missing, HasSubstr((folder_ / "missing").string()));
}

TEST(FashionMnist, IsReadAsDebianInstallsIt) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "Debian's dataset-fashion-mnist is not installed";
  for (const auto& [prefix, count] : {std::pair{"train", 60000}, std::pair{"t10k", 10000}}) {
    const Tensor images = read_idx(folder / (std::string(prefix) + "-images-idx3-ubyte.gz"));
    const Tensor labels = read_idx(folder / (std::string(prefix) + "-labels-idx1-ubyte.gz"));
    EXPECT_EQ(images.shape(), (Shape{count, 28, 28}));
    EXPECT_EQ(labels.shape(), (Shape{count}));
    std::vector<int> found(10);
    for (const int32_t label : values<int32_t>(labels)) ++found.at(static_cast<size_t>(label));
    EXPECT_THAT(found, ::testing::Each(count / 10));
    const std::vector<float> pixels = values<float>(images);
    const auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
    EXPECT_EQ(*least, 0);
    EXPECT_EQ(*most, 1);
  }
}

}  // namespace
}  // namespace cladtorch::data
