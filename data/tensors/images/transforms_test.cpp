#include "cladtorch/data/transforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::vector<float> values(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

/// 1, 2, 3, ...
Tensor counted(const Shape& shape) {
  Tensor x = empty(shape);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(i + 1);
  return x;
}

TEST(Normalize, HasOneNumberPerChannelOrOneForAll) {
  const Tensor x = counted({2, 1, 2});
  EXPECT_THAT(values(normalize(x, {1, 2}, {2, 4})), ElementsAre(0, 0.5f, 0.25f, 0.5f));
  EXPECT_THAT(values(normalize(x, {1}, {2})), ElementsAre(0, 0.5f, 1, 1.5f));
  const Tensor batch = counted({2, 2, 1, 1});
  EXPECT_THAT(values(normalize(batch, {1, 2}, {1, 2})), ElementsAre(0, 0, 2, 1));
}

TEST(Resize, GivesTheValuesOfPyTorch) {
  // F.interpolate(torch.arange(12.).reshape(1, 1, 3, 4), size=..., mode="bilinear")
  const Tensor x = counted({1, 3, 4});
  const auto expect = [&](int64_t height, int64_t width, std::vector<float> expected) {
    const Tensor result = resize(x, height, width);
    EXPECT_EQ(result.shape(), (Shape{1, height, width}));
    for (float& value : expected) value += 1;
    EXPECT_THAT(values(result), Pointwise(FloatNear(1e-4f), expected));
  };
  expect(5, 3,
         {0.1667f, 1.5f, 2.8333f, 1.7667f, 3.1f, 4.4333f, 4.1667f, 5.5f, 6.8333f, 6.5667f, 7.9f, 9.2333f,
          8.1667f, 9.5f, 10.8333f});
  expect(2, 7,
         {1, 1.3571f, 1.9286f, 2.5f, 3.0714f, 3.6429f, 4, 7, 7.3571f, 7.9286f, 8.5f, 9.0714f, 9.6429f, 10});
  EXPECT_EQ(values(resize(x, 3, 4)), values(x));
}

TEST(Resize, KeepsTheRatioOfTheSides) {
  EXPECT_EQ(resize(zeros({3, 20, 31}), 10).shape(), (Shape{3, 10, 15}));
  EXPECT_EQ(resize(zeros({2, 3, 30, 20}), 40).shape(), (Shape{2, 3, 60, 40}));
}

TEST(Crop, TakesAPartAndFillsWhatLiesOutside) {
  const Tensor x = counted({1, 3, 3});
  EXPECT_THAT(values(crop(x, 1, 0, 2, 2)), ElementsAre(4, 5, 7, 8));
  EXPECT_THAT(values(crop(x, -1, -1, 2, 2)), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(values(crop(x, 2, 2, 2, 2)), ElementsAre(9, 0, 0, 0));
  EXPECT_THAT(values(crop(x, 0, 5, 1, 2)), ElementsAre(0, 0));
  EXPECT_THAT(values(crop(x, 0, -5, 1, 2)), ElementsAre(0, 0));
  EXPECT_THAT(values(crop(x, -1, -1, 5, 5)),
              ElementsAreArray({0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0}));
}

TEST(Crop, TakesTheMiddleAsTorchvisionDoes) {
  EXPECT_THAT(values(center_crop(counted({1, 4, 4}), 2, 2)), ElementsAre(6, 7, 10, 11));
  // 0.5 pixels round to 0, 1.5 to 2.
  EXPECT_THAT(values(center_crop(counted({1, 1, 4}), 1, 3)), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(center_crop(counted({1, 1, 6}), 1, 3)), ElementsAre(3, 4, 5));
  EXPECT_THAT(values(center_crop(counted({1, 1, 1}), 1, 4)), ElementsAre(0, 1, 0, 0));
}

TEST(RandomCrop, IsAPartOfThePaddedImage) {
  Random random(1);
  const Tensor x = counted({1, 2, 2});
  std::set<std::vector<float>> seen;
  for (int i = 0; i < 300; ++i) seen.insert(values(random_crop(x, 2, 2, 1, random)));
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_TRUE(seen.contains({1, 2, 3, 4}));
  EXPECT_TRUE(seen.contains({0, 0, 0, 1}));
  EXPECT_TRUE(seen.contains({4, 0, 0, 0}));
  EXPECT_EQ(values(random_crop(x, 2, 2, 0, random)), values(x));
}

TEST(RandomCrop, TakesAllChannelsOfAnImageFromOnePlaceAndImagesFromTheirOwn) {
  Random random(1);
  const Tensor x = counted({50, 2, 1, 10});
  const std::vector<float> crops = values(random_crop(x, 1, 4, 0, random));
  std::set<float> places;
  for (size_t i = 0; i < 50; ++i) {
    const float first = crops[8 * i] - 20 * static_cast<float>(i), second = crops[8 * i + 4];
    EXPECT_EQ(second, crops[8 * i] + 10);
    places.insert(first);
  }
  EXPECT_EQ(places.size(), 7u);
}

TEST(RandomHorizontalFlip, MirrorsWithTheProbability) {
  Random random(1);
  const Tensor x = counted({1, 2, 2});
  EXPECT_THAT(values(random_horizontal_flip(x, random, 1)), ElementsAre(2, 1, 4, 3));
  EXPECT_EQ(values(random_horizontal_flip(x, random, 0)), values(x));
  const std::vector<float> many = values(random_horizontal_flip(x.expand({1000, 1, 2, 2}), random, 0.3));
  int mirrored = 0;
  for (size_t i = 0; i < many.size(); i += 4) mirrored += many[i] == 2;
  EXPECT_NEAR(mirrored, 300, 60);
}

TEST(RandomTransforms, DependOnTheGeneratorAlone) {
  const int threads = num_threads();
  std::vector<std::vector<float>> all;
  for (const int count : {1, 2, 4}) {
    set_num_threads(count);
    Random random(5);
    const Tensor x = random_crop(counted({64, 3, 32, 32}), 28, 28, 4, random);
    all.push_back(values(random_horizontal_flip(x, random)));
  }
  set_num_threads(threads);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(Transforms, TakeImagesThatAreNotDense) {
  const Tensor x = counted({1, 2, 3}).transpose(1, 2);
  EXPECT_THAT(values(crop(x, 0, 0, 3, 2)), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Transforms, SayWhatTheyDoNotTake) {
  Random random;
  const auto error_of = [](auto action) { return io::error_of(action); };
  EXPECT_EQ(error_of([] { crop(zeros({4, 4}), 0, 0, 1, 1); }),
            "crop: expected float32 [C,H,W] or [N,C,H,W], got float32 [4,4]");
  EXPECT_THAT(error_of([] { resize(zeros({1, 4, 4}, DType::int32), 2, 2); }), HasSubstr("got int32 [1,4,4]"));
  EXPECT_THAT(error_of([] { resize(zeros({1, 4, 4}), 0, 2); }), HasSubstr("cannot make 0 x 2 pixels"));
  EXPECT_THAT(error_of([] { resize(zeros({1, 4, 4}), 0); }), HasSubstr("a side of 0 pixels"));
  EXPECT_THAT(error_of([] { crop(zeros({1, 4, 4}), 0, 0, 0, 2); }), HasSubstr("cannot make images of 0 x 2"));
  EXPECT_EQ(error_of([&] { random_crop(zeros({1, 4, 4}), 7, 4, 1, random); }),
            "random_crop: 7 x 4 pixels cannot be cut from [1,4,4] with a padding of 1");
  EXPECT_EQ(error_of([] { normalize(zeros({3, 4, 4}), {1, 2}, {1}); }),
            "normalize: 2 numbers for the 3 channels of [3,4,4]");
  EXPECT_THAT(error_of([] { normalize(zeros({1, 4, 4}), {1}, {0}); }), HasSubstr("a deviation is 0"));
}

}  // namespace
}  // namespace cladtorch::data
