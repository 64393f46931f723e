#include "cladtorch/data/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "data/tensors/images/encode.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<float> values(const Tensor& x) { return {x.data<float>(), x.data<float>() + x.numel()}; }

class Image : public ::testing::Test {
 protected:
  Tensor read(const std::string& content, int channels = 3) {
    return read_image(folder_.write("image", content), channels);
  }
  std::vector<float> pixels(const std::string& content, int channels = 3) {
    return values(read(content, channels));
  }
  std::string error_of(const std::string& content) {
    const std::string message = io::error_of([&] { read(content); });
    EXPECT_THAT(message, StartsWith("read_image: '" + (folder_ / "image").string() + "' is "));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  io::TemporaryFolder folder_;
};

TEST_F(Image, KeepsWhatIsWrittenAsPng) {
  Tensor image = empty({3, 5, 7});
  for (int64_t i = 0; i < image.numel(); ++i)
    image.data<float>()[i] = static_cast<float>(i * 2 % 256) / 255.0f;
  write_png(folder_ / "a.png", image);
  const Tensor again = read_image(folder_ / "a.png");
  EXPECT_EQ(again.shape(), image.shape());
  EXPECT_EQ(values(again), values(image));
}

TEST_F(Image, WritesGrayAndOpacity) {
  const Tensor gray = from_values<float>({1, 2}, {0.2f, 1});
  for (const Tensor& image : {gray, gray.unsqueeze(0), gray.to(DType::float64)}) {
    write_png(folder_ / "a.png", image);
    EXPECT_THAT(values(read_image(folder_ / "a.png", 1)), ElementsAre(0.2f, 1));
    EXPECT_THAT(values(read_image(folder_ / "a.png")), ElementsAre(0.2f, 1, 0.2f, 1, 0.2f, 1));
  }
  write_png(folder_ / "a.png", from_values<float>({4, 1, 1}, {0.2f, 0.4f, 1, 0}));
  EXPECT_THAT(values(read_image(folder_ / "a.png")), ElementsAre(0.2f, 0.4f, 1));
}

TEST_F(Image, RoundsAndClampsWhatItWrites) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  write_png(folder_ / "a.png",
            from_values<float>({1, 7}, {-1, 2, 0.5f, 1.4f / 255, 1.6f / 255, nan, infinity}));
  EXPECT_THAT(values(read_image(folder_ / "a.png", 1)),
              ElementsAre(0, 1, 128 / 255.0f, 1 / 255.0f, 2 / 255.0f, 0, 1));
}

TEST_F(Image, ReadsEveryKindOfPng) {
  EXPECT_THAT(pixels(png_file(2, {{10, 20, 30, 40, 50, 60}}, {})),
              ElementsAre(10 / 255.0f, 40 / 255.0f, 20 / 255.0f, 50 / 255.0f, 30 / 255.0f, 60 / 255.0f));
  // 16 bits keep their precision.
  EXPECT_THAT(pixels(png_file(1, {{0x12, 0x34, 0, 0, 0xff, 0xff}}, {.depth = 16})),
              ElementsAre(0x1234 / 65535.0f, 0, 1));
  EXPECT_THAT(pixels(png_file(1, {{0x12, 0x34}}, {.depth = 16, .type = PNG_COLOR_TYPE_GRAY}), 1),
              ElementsAre(0x1234 / 65535.0f));
  EXPECT_THAT(pixels(png_file(3, {{0b10100000}}, {.depth = 1, .type = PNG_COLOR_TYPE_GRAY}), 1),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(pixels(png_file(2, {{0b00011011}}, {.depth = 2, .type = PNG_COLOR_TYPE_GRAY}), 1),
              ElementsAre(0, 85 / 255.0f));
  const PngKind palette{.depth = 8, .type = PNG_COLOR_TYPE_PALETTE, .palette = {{255, 0, 51}, {0, 102, 0}}};
  EXPECT_THAT(pixels(png_file(2, {{0, 1}}, palette)), ElementsAre(1, 0, 0, 102 / 255.0f, 0.2f, 0));
  PngKind transparent = palette;
  transparent.transparent = true;
  EXPECT_THAT(pixels(png_file(2, {{0, 1}}, transparent)), ElementsAre(1, 0, 0, 102 / 255.0f, 0.2f, 0));
  EXPECT_THAT(pixels(png_file(1, {{51, 102, 255, 0}}, {.type = PNG_COLOR_TYPE_RGB_ALPHA})),
              ElementsAre(0.2f, 0.4f, 1));
  EXPECT_THAT(pixels(png_file(1, {{51, 0}}, {.type = PNG_COLOR_TYPE_GRAY_ALPHA})),
              ElementsAre(0.2f, 0.2f, 0.2f));
}

TEST_F(Image, ReadsInterlacedPng) {
  std::vector<std::vector<uint8_t>> rows(9, std::vector<uint8_t>(11));
  for (size_t y = 0; y < 9; ++y)
    for (size_t x = 0; x < 11; ++x) rows[y][x] = static_cast<uint8_t>(y * 11 + x);
  const std::vector<float> found =
      pixels(png_file(11, rows, {.type = PNG_COLOR_TYPE_GRAY, .interlaced = true}), 1);
  for (size_t i = 0; i < 99; ++i) EXPECT_EQ(found[i], static_cast<float>(i) / 255.0f);
}

TEST_F(Image, ReadsEveryKindOfJpeg) {
  const Tensor image = read(jpeg_file(9, 5, {200, 100, 50}, JCS_RGB));
  ASSERT_EQ(image.shape(), (Shape{3, 5, 9}));
  EXPECT_THAT(values(image.select(0, 0)), Each(FloatNear(200 / 255.0f, 0.008f)));
  EXPECT_THAT(values(image.select(0, 1)), Each(FloatNear(100 / 255.0f, 0.008f)));
  EXPECT_THAT(values(image.select(0, 2)), Each(FloatNear(50 / 255.0f, 0.008f)));
  EXPECT_THAT(pixels(jpeg_file(3, 3, {77}, JCS_GRAYSCALE)), Each(77 / 255.0f));
  // Files of four channels hold the inverse, as Adobe's do.
  const Tensor inverse = read(jpeg_file(1, 1, {255, 128, 64, 204}, JCS_CMYK));
  EXPECT_THAT(values(inverse), ElementsAre(FloatNear(0.8f, 0.01f), FloatNear(0.8f * 128 / 255, 0.01f),
                                           FloatNear(0.8f * 64 / 255, 0.01f)));
}

TEST_F(Image, MakesGrayOfColors) {
  EXPECT_THAT(pixels(png_file(1, {{255, 0, 0}}, {}), 1), ElementsAre(0.299f));
  EXPECT_THAT(pixels(png_file(1, {{0, 255, 0}}, {}), 1), ElementsAre(0.587f));
  EXPECT_THAT(pixels(png_file(1, {{0, 0, 255}}, {}), 1), ElementsAre(0.114f));
}

TEST_F(Image, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(error_of(""), EndsWith("is neither PNG nor JPEG"));
  EXPECT_THAT(error_of("GIF89a"), EndsWith("is neither PNG nor JPEG"));
  const std::string png = png_file(4, std::vector(4, std::vector<uint8_t>(12, 7)), {});
  EXPECT_THAT(error_of(png.substr(0, 20)), HasSubstr("is damaged PNG (it ends too early)"));
  EXPECT_THAT(error_of(png.substr(0, png.size() - 16)), HasSubstr("is damaged PNG"));
  std::string damaged = png;
  damaged[45] ^= 1;  // within the pixels
  EXPECT_THAT(error_of(damaged), HasSubstr("is damaged PNG"));
  const std::string jpeg = jpeg_file(64, 64, {200, 100, 50}, JCS_RGB);
  EXPECT_THAT(error_of(jpeg.substr(0, 30)), HasSubstr("is damaged JPEG"));
  EXPECT_THAT(error_of(jpeg.substr(0, jpeg.size() - 20)), HasSubstr("is damaged JPEG (Premature end"));
  EXPECT_THAT(io::error_of([&] { read_image(folder_ / "missing.png"); }), HasSubstr("missing.png"));
  EXPECT_EQ(io::error_of([&] { read_image(folder_ / "image", 2); }),
            "read_image: expected 1 or 3 channels, got 2");
}

/// A header may say any size; memory is taken only for one that the file can hold.
TEST_F(Image, TakesNoMemoryForASizeThatDoesNotFit) {
  const std::string jpeg = jpeg_file(8, 8, {200, 100, 50}, JCS_RGB);
  const size_t frame = jpeg.find("\xff\xc0");
  std::string huge = jpeg;
  for (size_t i = 5; i < 9; ++i) huge[frame + i] = '\x7f';
  EXPECT_THAT(error_of(huge), HasSubstr("32639 x 32639 does not fit in the file"));
  std::string png = png_file(1000, std::vector(1000, std::vector<uint8_t>(3000)), {});
  EXPECT_EQ(read(png).size(1), 1000);
  std::string header = png.substr(12, 17);
  header[4] = 0, header[5] = 0xf;  // of the width, 1000000
  header[6] = 0x42, header[7] = 0x40;
  header[8] = 0, header[9] = 0xf;  // of the height
  header[10] = 0x42, header[11] = 0x40;
  const uint32_t checksum =
      static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(header.data()), 17));
  for (int i = 0; i < 4; ++i) header += static_cast<char>(checksum >> (24 - 8 * i));
  EXPECT_THAT(error_of(png.replace(12, 21, header)), HasSubstr("1000000 x 1000000 does not fit in the file"));
}

TEST_F(Image, WritesNoOtherTensors) {
  const auto error_of = [&](const Tensor& image) {
    const std::string message = io::error_of([&] { write_png(folder_ / "b.png", image); });
    EXPECT_THAT(message, StartsWith("write_png: '" + (folder_ / "b.png").string() + "': "));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "b.png"));
    return message;
  };
  EXPECT_THAT(error_of({}), EndsWith("the tensor is undefined"));
  EXPECT_THAT(error_of(zeros({2, 2}, DType::int32)), EndsWith("got int32"));
  EXPECT_THAT(error_of(zeros({2, 2, 2})), EndsWith("with 1, 3 or 4 channels, got [2,2,2]"));
  EXPECT_THAT(error_of(zeros({2})), EndsWith("got [2]"));
  EXPECT_THAT(error_of(zeros({3, 0, 2})), EndsWith("there are no pixels in [3,0,2]"));
}

}  // namespace
}  // namespace cladtorch::data
