#include "cladtorch/ops/shape.h"

#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/factories.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;

std::vector<double> values(const Tensor& x) {
  const Tensor dense = x.to(DType::float64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}
using Values = std::vector<double>;
Tensor counting(const Shape& shape) { return arange(shape.numel(), DType::float64).reshape(shape); }

TEST(Shape, PadsByEveryMode) {
  const Tensor x = counting({4});
  EXPECT_EQ(values(pad(x, {1, 2}, PadMode::constant, 9)), (Values{9, 0, 1, 2, 3, 9, 9}));
  EXPECT_EQ(values(pad(x, {-1, 1})), (Values{1, 2, 3, 0}));
  EXPECT_EQ(values(pad(x, {3, 2}, PadMode::reflect)), (Values{3, 2, 1, 0, 1, 2, 3, 2, 1}));
  EXPECT_EQ(values(pad(x, {2, 1}, PadMode::replicate)), (Values{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(values(pad(x, {2, 1}, PadMode::circular)), (Values{2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(pad(counting({2, 3}), {1, 0, 0, 2}).shape(), (Shape{4, 4}));
  EXPECT_EQ(pad(arange(3), {1, 1}).dtype(), DType::int32);
  EXPECT_EQ(error_of([&] { pad(x, {4, 0}, PadMode::reflect); }),
            "pad: dimension 0 of [4] has too few elements for amounts 4 and 0");
  EXPECT_EQ(error_of([&] { pad(x, {1}); }),
            "pad: expected two amounts for each of the last dimensions, of which there are 1, got [1]");
  EXPECT_EQ(error_of([&] { pad(x, {-1, 0}, PadMode::circular); }),
            "pad: only constants take negative amounts, got -1 and 0 for dimension 0");
}

TEST(Shape, TheDerivativeByThePaddingIsTheSumOverIt) {
  const Tensor d_y = testing::normals({{4, 5}})[0];
  double d_value = 0.5;
  clad::custom_derivatives::cladtorch::pad_pullback({}, {1, 1, -1, 2}, PadMode::constant, 0, d_y, nullptr,
                                                    &d_value);
  EXPECT_NEAR(d_value, 0.5 + sum(d_y).item() - sum(d_y.narrow(0, 0, 2).narrow(1, 1, 3)).item(), 1e-12);
}

TEST(Shape, RollsRepeatsAndTiles) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values(roll(x, 1, 1)), (Values{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(values(roll(x, -1, 0)), (Values{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(values(roll(x, 7)), (Values{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(values(roll(x, {1, 1}, {0, 1})), (Values{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(values(repeat(x, {1, 2})), (Values{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(repeat(x, {2, 1, 3}).shape(), (Shape{2, 2, 9}));
  EXPECT_EQ(values(repeat(counting({2}), {2, 2})), (Values{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(tile(x, {2}).shape(), (Shape{2, 6}));
  EXPECT_EQ(repeat(x, {0, 1}).shape(), (Shape{0, 3}));
  EXPECT_EQ(values(repeat_interleave(x, 2, 0)), (Values{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(values(repeat_interleave(x, 2)), (Values{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(error_of([&] { repeat(x, {2}); }),
            "repeat: expected a number for each dimension of [2,3], got [2]");
}

TEST(Shape, ViewsCopyNothing) {
  const Tensor x = counting({2, 3, 4});
  for (const Tensor& view :
       {movedim(x, 0, 2), movedim(x, {0, 1}, {-1, 0}), swapaxes(x, 0, -1), flatten(x, 1),
        unflatten(x, -1, {2, -1}), broadcast_to(x, {5, 2, 3, 4}), chunk(x, 2, 2)[1], unbind(x)[1]})
    EXPECT_TRUE(view.shares_storage_with(x));
  EXPECT_EQ(movedim(x, 0, 2).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, {0, 1}, {-1, 0}).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, 2, 0).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(flatten(x, 0, 1).shape(), (Shape{6, 4}));
  EXPECT_EQ(flatten(zeros({})).shape(), (Shape{1}));
  EXPECT_EQ(unflatten(x, 2, {2, -1}).shape(), (Shape{2, 3, 2, 2}));
  EXPECT_EQ(error_of([&] { unflatten(x, 1, {2, -1}); }),
            "unflatten: dimension 1 of [2,3,4] cannot become [2,-1]");
  EXPECT_EQ(error_of([&] { movedim(x, {0, 0}, {1, 2}); }),
            "movedim: a dimension is named twice in [0,0] or [1,2]");
}

TEST(Shape, ChunksUnbindsAndMakesGrids) {
  const Tensor x = counting({5, 2});
  const std::vector<Tensor> pieces = chunk(x, 3);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[2].shape(), (Shape{1, 2}));
  EXPECT_EQ(unbind(x, -1).size(), 2u);
  EXPECT_EQ(values(unbind(x, 1)[1]), (Values{1, 3, 5, 7, 9}));
  const std::vector<Tensor> grid = meshgrid({counting({2}), counting({3})});
  EXPECT_EQ(values(grid[0]), (Values{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(values(grid[1]), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values(flip(counting({2, 2}), {0, 1})), (Values{3, 2, 1, 0}));
}

TEST(Shape, TrianglesAndDiagonals) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(values(tril(x, 0)), (Values{0, 0, 0, 3, 4, 0}));
  EXPECT_EQ(values(triu(x)), (Values{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(values(triu(x, 9)), Values(6, 0.0));
  EXPECT_EQ(values(diagonal(x, 1)), (Values{1, 5}));
  EXPECT_EQ(values(diagonal(x, -1)), (Values{3}));
  EXPECT_EQ(diagonal(x, 5).shape(), (Shape{0}));
  EXPECT_EQ(values(diag_embed(counting({2}), 1)), (Values{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(values(triu(full({2, 2}, INFINITY), 1)), (Values{0, INFINITY, 0, 0}));
  EXPECT_EQ(error_of([&] { diagonal(x, 0, 1, -1); }), "diagonal: dim1 and dim2 are both 1");
  EXPECT_EQ(error_of([&] { triu(zeros({3})); }), "triu: expected rank 2 or more, got [3]");
}

TEST(Shape, FoldUndoesUnfold) {
  const Tensor x = counting({1, 2, 4, 4});
  const Tensor columns = unfold(x, 2, {.stride = 2});
  EXPECT_EQ(columns.shape(), (Shape{1, 8, 4}));
  EXPECT_EQ(values(columns.select(0, 0).select(1, 1)), (Values{2, 3, 6, 7, 18, 19, 22, 23}));
  EXPECT_EQ(values(fold(columns, 4, 2, {.stride = 2})), values(x));
  EXPECT_EQ(error_of([&] { unfold(x, 5); }),
            "unfold: windows of 5 do not fit 4 elements with a padding of 0");
  EXPECT_EQ(error_of([&] { fold(columns, 6, 2, {.stride = 2}); }),
            "fold: expected columns of 4 C elements for 9 windows, got [1,8,4]");
}

}  // namespace
}  // namespace cladtorch
