#include <gmock/gmock.h>

#include "cladtorch/tensor/factories.h"

namespace cladtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> values(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return {dense.data<int32_t>(), dense.data<int32_t>() + dense.numel()};
}

std::string error_of(auto&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Views, ReshapeOfDenseDataSharesStorage) {
  const Tensor x = arange(12);
  const Tensor y = x.reshape({3, -1});
  EXPECT_EQ(y.shape(), (Shape{3, 4}));
  EXPECT_TRUE(y.shares_storage_with(x));
  EXPECT_EQ(error_of([&] { x.reshape({5, -1}); }), "reshape: [12] has 12 elements and cannot become [5,-1]");
  EXPECT_THAT(error_of([&] { x.reshape({-1, -1}); }), HasSubstr("at most one"));
}

TEST(Views, ReshapeOfStridedDataCopiesOnlyWhenItMust) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  const Tensor narrow = x.narrow(2, 0, 2);
  EXPECT_TRUE(narrow.reshape({6, 2}).shares_storage_with(x));
  EXPECT_TRUE(narrow.reshape({2, 3, 2, 1}).shares_storage_with(x));
  EXPECT_FALSE(narrow.reshape({12}).shares_storage_with(x));
  EXPECT_THAT(values(narrow.reshape({12})), ElementsAre(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21));
  EXPECT_THAT(values(x.transpose(1, 2).reshape({2, 12})), testing::SizeIs(24));
}

TEST(Views, StridedTensorsWithoutElementsReshape) {
  const Tensor x = zeros({4, 0, 10}).slice(2, 0, 5);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(x.reshape({0, 7}).shape(), (Shape{0, 7}));
}

TEST(Views, TransposeAndPermuteReorderStrides) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_THAT(values(x.transpose(0, 1)), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(values(x.transpose(-1, -2)), ElementsAre(0, 3, 1, 4, 2, 5));
  const Tensor y = arange(24).reshape({2, 3, 4}).permute({2, 0, 1});
  EXPECT_EQ(y.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(y.select(0, 1).select(0, 1).select(0, 2).item(), 12 + 8 + 1);
  EXPECT_THAT(error_of([&] { x.permute({0, 0}); }), HasSubstr("twice"));
}

TEST(Views, NarrowSliceSelectAndSplitPickEntries) {
  const Tensor x = arange(10).reshape({2, 5});
  EXPECT_THAT(values(x.narrow(1, 1, 2)), ElementsAre(1, 2, 6, 7));
  EXPECT_THAT(values(x.slice(-1, 3, 5)), ElementsAre(3, 4, 8, 9));
  EXPECT_THAT(values(x.select(0, 1)), ElementsAre(5, 6, 7, 8, 9));
  const std::vector<Tensor> pieces = x.split(2, 1);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(values(pieces[2]), ElementsAre(4, 9));
  EXPECT_TRUE(pieces[1].shares_storage_with(x));
  EXPECT_THAT(error_of([&] { x.narrow(1, 4, 2); }), HasSubstr("outside dimension 1 of [2,5]"));
  EXPECT_THAT(error_of([&] { x.select(2, 0); }), HasSubstr("rank 2"));
}

TEST(Views, SqueezeUnsqueezeAndExpandChangeRank) {
  const Tensor x = arange(3);
  EXPECT_EQ(x.unsqueeze(0).shape(), (Shape{1, 3}));
  EXPECT_EQ(x.unsqueeze(-1).shape(), (Shape{3, 1}));
  EXPECT_EQ(x.unsqueeze(0).squeeze(0).shape(), (Shape{3}));
  EXPECT_THAT(values(x.expand({2, 3})), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(values(x.unsqueeze(1).expand({3, 2})), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(error_of([&] { x.expand({2, 4}); }), HasSubstr("[3]"));
}

TEST(Views, WritingThroughAViewChangesTheWhole) {
  Tensor x = arange(4).reshape({2, 2});
  x.select(1, 1).fill_(9);
  EXPECT_THAT(values(x), ElementsAre(0, 9, 2, 9));
  x.transpose(0, 1).copy_from(arange(4).reshape({2, 2}));
  EXPECT_THAT(values(x), ElementsAre(0, 2, 1, 3));
}

TEST(Shape, BroadcastsFromTheRight) {
  EXPECT_EQ(broadcast_shapes("add", {4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast_shapes("add", {}, {2}), (Shape{2}));
  EXPECT_EQ(broadcast_shapes("add", {0}, {1}), (Shape{0}));
  EXPECT_EQ(error_of([] { broadcast_shapes("add", {4, 8}, {16, 4}); }),
            "add: shapes do not broadcast: a is [4,8], b is [16,4]");
}

}  // namespace
}  // namespace cladtorch
