// The C++ of docs/migrating-from-pytorch.md about data, compiled and run. guide_test.cpp checks that
// none is missing in this folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/csv.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/image.h"
#include "cladtorch/data/image_folder.h"
#include "cladtorch/data/npy.h"
#include "cladtorch/data/transforms.h"
#include "io/temporary_folder.h"
#include "tests/migrating/snippets/values.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::random_tokens;
using testing::values;

namespace {

/// A data set of one's own.
struct Squares {
  int64_t size() const { return 8; }
  std::vector<Tensor> get(int64_t i) const {
    return {full({}, static_cast<double>(i)), full({}, static_cast<double>(i * i))};
  }
};

TEST(Migrating, Batches) {
  const uint64_t seed = 1;
  Random random(42);
  const Tensor x = randn({12, 2}, random), labels = random_tokens({12}, 3, 1);
  data::DataLoader loader(data::TensorDataset({x, labels}), {.batch_size = 4, .shuffle = true}, seed);
  int64_t batches_seen = 0;
  for (const std::vector<Tensor>& batch : loader) {
    EXPECT_EQ(batch[1].shape(), (Shape{4}));
    ++batches_seen;
  }
  EXPECT_EQ(batches_seen, loader.batches_per_epoch());
  const int64_t given = loader.given();
  const Tensor expected = loader.next()[0].clone();
  loader.seek(given);
  EXPECT_EQ(values(loader.next()[0]), values(expected));
  data::DataLoader squares(Squares{}, {.drop_last = true, .workers = 2, .prefetch = 4});
  for (int i = 0; i < 3; ++i) squares.next();
  EXPECT_EQ(squares.next()[1].item(), 9);
  data::TensorLoader batches({x, labels}, 4, seed);
  EXPECT_EQ(batches.next()[1].shape(), (Shape{4}));
}

TEST(Migrating, Arrays) {
  const io::TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte",
               std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\xff\x33", 18));
  EXPECT_THAT(values(data::read_idx(folder / "train-images-idx3-ubyte")), ElementsAre(1, 0.2f));
  const fs::path array = folder / "x.npy", archive = folder / "all.npz";
  const Tensor x = from_values<float>({2}, {1, 2}), y = arange(3);
  data::write_npy(array, x);
  EXPECT_THAT(values(data::read_npy(array)), ElementsAre(1, 2));
  data::write_npz(archive, {{"x", x}, {"y", y}}, {.compressed = true});
  EXPECT_THAT(values(data::read_npz(archive, "x")), ElementsAre(1, 2));
  EXPECT_EQ(data::read_npz(archive)[1].second.dtype(), DType::int32);
  const fs::path table = folder.write("t.csv", "a;b\n1;2\n3;4\n");
  const data::CsvTable csv = data::read_csv(table, {.delimiter = ';'});
  EXPECT_THAT(values(csv.values), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(csv.columns, ElementsAre("a", "b"));
  const fs::path irises = folder.write("iris.csv", "length,kind\n1,virginica\n2,setosa\n");
  EXPECT_THAT(data::read_csv(irises, {.label_columns = {-1}}).labels[1], ElementsAre("setosa", "virginica"));
}

TEST(Migrating, Images) {
  const io::TemporaryFolder folder;
  const fs::path root = folder.path(), picture = folder / "cats/1.png";
  fs::create_directories(folder / "cats");
  Random random(42);
  {
    const Tensor image = rand({3, 40, 50}, random);
    data::write_png(picture, image);
    EXPECT_THAT(values(data::read_image(picture)),
                ::testing::Pointwise(::testing::FloatNear(0.002f), values(image)));
  }
  const auto transform = [](const Tensor& image, Random& random) {
    EXPECT_EQ(data::resize(image, 36).shape(), (Shape{3, 36, 45}));
    EXPECT_EQ(data::center_crop(image, 32, 32).shape(), (Shape{3, 32, 32}));
    EXPECT_EQ(data::random_horizontal_flip(image, random).shape(), image.shape());
    EXPECT_EQ(data::normalize(image, {0.5f}, {0.25f}).shape(), image.shape());
    return data::random_crop(image, 32, 32, 4, random);
  };
  data::ImageFolder pictures(root, {.transform = transform});
  EXPECT_EQ(pictures.get(0, random)[0].shape(), (Shape{3, 32, 32}));
}

}  // namespace
}  // namespace cladtorch
