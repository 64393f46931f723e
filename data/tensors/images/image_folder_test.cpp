#include "cladtorch/data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cladtorch/data/data_loader.h"
#include "cladtorch/data/image.h"
#include "cladtorch/data/transforms.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "data/tensors/images/encode.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Folder : public ::testing::Test {
 protected:
  /// A PNG of one gray, in [0, 255].
  void add(const std::string& name, uint8_t gray, uint32_t width = 4, uint32_t height = 4) {
    folder_.write(name, png_file(width, std::vector(height, std::vector<uint8_t>(width, gray)),
                                 {.type = PNG_COLOR_TYPE_GRAY}));
  }
  void add_pictures() {
    add("dog/b.png", 10);
    add("dog/a.png", 20);
    add("dog/more/c.PNG", 30);
    add("dog-like/a.png", 40);
    add("cat/z.png", 50);
    folder_.write("cat/y.JPeG", jpeg_file(4, 4, {60}, JCS_GRAYSCALE));
    folder_.write("cat/notes.txt", "not a picture");
    folder_.write(".hidden/a.png", "not a picture");
    folder_.write("cat/.hidden.png", "not a picture");
    folder_.write("labels.csv", "cat,dog");
  }

  io::TemporaryFolder folder_;
  Random random_;
};

TEST_F(Folder, HasItsClassesInAlphabeticalOrder) {
  add_pictures();
  const ImageFolder pictures(folder_.path());
  EXPECT_THAT(pictures.classes(), ElementsAre("cat", "dog", "dog-like"));
  std::vector<std::string> names;
  std::vector<int32_t> labels;
  for (const ImageFolder::Sample& sample : pictures.samples()) {
    names.push_back(std::filesystem::relative(sample.path, folder_.path()).string());
    labels.push_back(sample.label);
  }
  EXPECT_THAT(names, ElementsAre("cat/y.JPeG", "cat/z.png", "dog/a.png", "dog/b.png", "dog/more/c.PNG",
                                 "dog-like/a.png"));
  EXPECT_THAT(labels, ElementsAre(0, 0, 1, 1, 1, 2));
}

TEST_F(Folder, GivesImagesAndLabels) {
  add_pictures();
  const ImageFolder pictures(folder_.path()), gray(folder_.path(), {.channels = 1});
  EXPECT_EQ(pictures.size(), 6);
  const std::vector<Tensor> sample = pictures.get(2, random_);
  ASSERT_EQ(sample.size(), 2u);
  EXPECT_EQ(sample[0].shape(), (Shape{3, 4, 4}));
  EXPECT_EQ(sample[0].data<float>()[0], 20 / 255.0f);
  EXPECT_EQ(sample[1].dtype(), DType::int32);
  EXPECT_EQ(sample[1].item(), 1);
  EXPECT_EQ(gray.get(0, random_)[0].shape(), (Shape{1, 4, 4}));
  EXPECT_THAT(io::error_of([&] { pictures.get(6, random_); }), HasSubstr("no image 6 among 6"));
}

TEST_F(Folder, FeedsADataLoader) {
  for (int i = 0; i < 10; ++i)
    add((i % 2 == 0 ? "even/" : "odd/") + std::to_string(i) + ".png", static_cast<uint8_t>(20 * i),
        8 + static_cast<uint32_t>(i), 9);
  const auto transform = [](const Tensor& image, Random& random) {
    return random_horizontal_flip(random_crop(resize(image, 8, 8), 8, 8, 2, random), random);
  };
  std::vector<std::string> all;
  for (const int workers : {0, 3}) {
    DataLoader loader(ImageFolder(folder_.path(), {.channels = 1, .transform = transform}),
                      {.batch_size = 4, .shuffle = true, .workers = workers}, 1);
    std::string found;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const std::vector<Tensor>& batch : loader) {
        EXPECT_EQ(batch[0].shape(), (Shape{batch[1].size(0), 1, 8, 8}));
        for (int64_t i = 0; i < batch[1].size(0); ++i) {
          // Every image has its own gray, and somewhere in its middle.
          const float gray = batch[0].select(0, i).select(0, 0).select(0, 4).data<float>()[4];
          const auto number = static_cast<int>(gray * 255 / 20 + 0.5f);
          EXPECT_EQ(batch[1].data<int32_t>()[i], number % 2);
        }
        found += batch[0].to_string() + batch[1].to_string();
      }
    }
    all.push_back(found);
  }
  EXPECT_EQ(all[0], all[1]);
}

TEST_F(Folder, SaysWhichImageIsDamaged) {
  add("a/x.png", 1);
  folder_.write("a/y.png", "nothing");
  DataLoader loader(ImageFolder(folder_.path()), {.batch_size = 2, .workers = 1});
  EXPECT_THAT(io::error_of([&] { loader.next(); }), HasSubstr("a/y.png' is neither PNG nor JPEG"));
}

TEST_F(Folder, SaysWhatCannotBeADataSet) {
  const auto error_of = [&](const std::string& name) {
    return io::error_of([&] { const ImageFolder pictures(folder_ / name); });
  };
  EXPECT_THAT(error_of("missing"), HasSubstr("missing"));
  add("flat/x.png", 1);
  EXPECT_THAT(error_of("flat"), HasSubstr("has no subfolders, which would be its classes"));
  EXPECT_THAT(error_of("flat/x.png"), HasSubstr("x.png"));
  std::filesystem::create_directories(folder_ / "empty/one");
  EXPECT_THAT(error_of("empty"), HasSubstr("empty/one' has no images"));
  folder_.write("other/one/x.bmp", "BM");
  EXPECT_THAT(error_of("other"), HasSubstr("x.bmp' is neither PNG nor JPEG; convert it"));
}

}  // namespace
}  // namespace cladtorch::data
