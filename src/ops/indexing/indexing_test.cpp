#include "cladtorch/ops/indexing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/ops/comparison.h"
#include "cladtorch/ops/embedding_bag.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::same_bits;

std::vector<double> values(const Tensor& x) {
  const Tensor dense = x.to(DType::float64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}
using Values = std::vector<double>;

const Tensor x = from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor mask = from_values<bool>({2, 3}, {true, false, true, false, false, true});

TEST(Where, Chooses) {
  EXPECT_EQ(values(where(mask, x, -x)), (Values{1, -2, 3, -4, -5, 6}));
  EXPECT_EQ(values(where(mask, x, 0)), (Values{1, 0, 3, 0, 0, 6}));
  EXPECT_EQ(values(where(mask, 0, x)), (Values{0, 2, 0, 4, 5, 0}));
  EXPECT_EQ(values(where(mask.select(0, 0), x, full({2, 1}, 9))), (Values{1, 9, 3, 4, 9, 6}));
  EXPECT_EQ(values(masked_fill(x, mask.select(0, 1), 7)), (Values{1, 2, 7, 4, 5, 7}));
  EXPECT_EQ(where(mask, arange(3), arange(3)).dtype(), DType::int32);
  EXPECT_EQ(values(where(mask.transpose(0, 1), x.transpose(0, 1), 0)), (Values{1, 0, 0, 0, 3, 6}));
}

TEST(Where, WhatIsNotChosenHasNoPartInTheDerivative) {
  const Tensor condition = from_values<bool>({2}, {true, false});
  clad::pullback_state<WhereState> state;
  Tensor d_a, d_b;
  pullbacks::where_reverse_forw(condition, full({2}, 1), full({2}, NAN), state);
  pullbacks::where_pullback(condition, {}, {}, from_values<float>({2}, {3, INFINITY}), nullptr, &d_a, &d_b,
                            state);
  EXPECT_EQ(values(d_a), (Values{3, 0}));
  EXPECT_EQ(values(d_b), (Values{0, INFINITY}));
}

TEST(Where, NumbersHaveDerivatives) {
  clad::pullback_state<WhereState> state;
  double d_number = 1;
  Tensor d;
  for (const DType dtype : {DType::float64, DType::bfloat16}) {
    pullbacks::where_reverse_forw(mask, x.to(dtype), 0.5, state);
    pullbacks::where_pullback(mask, {}, 0.5, x.to(dtype), nullptr, nullptr, &d_number, state);
    pullbacks::where_reverse_forw(mask, 0.5, x.to(dtype), state);
    pullbacks::where_pullback(mask, 0.5, {}, x.to(dtype), nullptr, &d_number, nullptr, state);
  }
  EXPECT_EQ(d_number, 1 + 2 * 21);
}

TEST(Where, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { where(x, x, x); }),
            "where: expected a bool condition, got float32; make one by a comparison such as ne(x, 0)");
  EXPECT_EQ(error_of([] { where(mask, x, x.to(DType::float64)); }),
            "where: dtypes differ: a is float32, b is float64; convert with to()");
  EXPECT_EQ(error_of([] { masked_fill(x.select(0, 0), mask, 1); }),
            "masked_fill: the mask of [2,3] does not broadcast to [3]");
  EXPECT_EQ(error_of([] { masked_select(x, arange(3)); }),
            "masked_select: expected a bool condition, got int32; make one by a comparison such as ne(x, 0)");
}

TEST(MaskedSelect, TakesElementsInTheirOrder) {
  EXPECT_EQ(values(masked_select(x, mask)), (Values{1, 3, 6}));
  EXPECT_EQ(values(masked_select(x, mask.select(0, 1))), (Values{3, 6}));
  EXPECT_EQ(masked_select(x, x > 9).shape(), (Shape{0}));
  EXPECT_EQ(values(nonzero(mask)), (Values{0, 0, 0, 2, 1, 2}));
  EXPECT_EQ(nonzero(mask).shape(), (Shape{3, 2}));
  EXPECT_EQ(nonzero(zeros({2, 3})).shape(), (Shape{0, 2}));
  EXPECT_EQ(nonzero(ones({})).shape(), (Shape{1, 0}));
}

TEST(Gather, TakesEitherInteger) {
  const Tensor index = from_values<int64_t>({2, 2}, {2, 0, 1, 1});
  EXPECT_EQ(values(gather(x, 1, index)), (Values{3, 1, 5, 5}));
  EXPECT_EQ(values(gather(x, -1, index.to(DType::int32))), (Values{3, 1, 5, 5}));
  EXPECT_EQ(values(gather(x, 0, from_values<int32_t>({1, 3}, {1, 0, 1}))), (Values{4, 2, 6}));
  EXPECT_EQ(values(gather(mask, 1, index)), (Values{1, 1, 0, 0}));
  EXPECT_EQ(values(gather(x.transpose(0, 1), 0, index.transpose(0, 1))), (Values{3, 5, 1, 5}));
}

TEST(IndexSelect, TakesEntries) {
  const Tensor index = from_values<int64_t>({3}, {2, 0, 2});
  EXPECT_EQ(values(index_select(x, 1, index)), (Values{3, 1, 3, 6, 4, 6}));
  EXPECT_EQ(values(index_select(x, 0, from_values<int32_t>({1}, {1}))), (Values{4, 5, 6}));
  EXPECT_EQ(index_select(x, 1, zeros({0}, DType::int32)).shape(), (Shape{2, 0}));
  EXPECT_EQ(values(index_add(x, 1, index, ones({2, 3}))), (Values{2, 2, 5, 5, 5, 8}));
}

TEST(TakeAlongDim, Broadcasts) {
  EXPECT_EQ(values(take_along_dim(x, from_values<int32_t>({1, 2}, {2, 0}), 1)), (Values{3, 1, 6, 4}));
  EXPECT_EQ(values(take_along_dim(x.narrow(0, 0, 1), from_values<int32_t>({2, 1}, {2, 0}), 1)),
            (Values{3, 1}));
}

TEST(Scatter, PutsAndAdds) {
  const Tensor index = from_values<int32_t>({2, 3}, {0, 0, 2, 1, 1, 1});
  EXPECT_EQ(values(scatter_add(x, 1, index, x)), (Values{4, 2, 6, 4, 20, 6}));
  EXPECT_EQ(values(scatter(x, 1, index, -x)), (Values{-2, 2, -3, 4, -6, 6}));
  EXPECT_EQ(values(scatter(x, 1, index, 0.5)), (Values{0.5, 2, 0.5, 4, 0.5, 6}));
  EXPECT_EQ(values(scatter(zeros({2, 3}, DType::boolean), 1, index, 1)), (Values{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(values(scatter_add(arange(3), 0, arange(2, DType::int64), arange(3))), (Values{0, 2, 2}));
  // Ones of bfloat16 that would be lost one by one.
  const Tensor many =
      scatter_add(full({1}, 256, DType::bfloat16), 0, zeros({8}, DType::int32), ones({8}, DType::bfloat16));
  EXPECT_EQ(many.item(), 264);
}

TEST(Scatter, GivesTheDerivativeToTheElementThatStays) {
  const Tensor index = from_values<int64_t>({3}, {1, 0, 1}), src = full({4}, 5);
  clad::pullback_state<ScatterState> state;
  Tensor d_x, d_src;
  pullbacks::scatter_reverse_forw(zeros({3}), 0, index, src, state);
  pullbacks::scatter_pullback({}, 0, index, {}, from_values<float>({3}, {10, 20, 30}), &d_x, nullptr, &d_src,
                              state);
  EXPECT_EQ(values(d_x), (Values{0, 0, 30}));
  EXPECT_EQ(values(d_src), (Values{0, 10, 20, 0}));
}

TEST(Indexing, NamesAnIndexThatIsOutOfRange) {
  const auto at = [](int64_t i) { return from_values<int64_t>({1, 1}, {i}); };
  EXPECT_EQ(error_of([&] { gather(x, 1, at(3)); }),
            "gather: index 3 is outside the 3 entries of dimension 1");
  EXPECT_EQ(error_of([&] { gather(x, 0, at(-1)); }),
            "gather: index -1 is outside the 2 entries of dimension 0");
  EXPECT_EQ(error_of([&] { gather(x, 0, at(int64_t{1} << 32)); }),
            "gather: 4294967296 among the indices does not fit in int32");
  EXPECT_EQ(error_of([&] { scatter_add(x, 1, at(5), x); }),
            "scatter_add: index 5 is outside the 3 entries of dimension 1");
  EXPECT_EQ(error_of([&] { scatter(x, 1, at(5), 1); }),
            "scatter: index 5 is outside the 3 entries of dimension 1");
  EXPECT_EQ(error_of([&] { index_select(x, 1, at(7).flatten()); }),
            "index_select: index 7 is outside the 3 entries of dimension 1");
  EXPECT_EQ(error_of([&] { take_along_dim(x, at(7), 1); }),
            "gather: index 7 is outside the 3 entries of dimension 1");
}

TEST(Indexing, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { gather(x, 1, ones({2, 2})); }),
            "gather: expected int32 or int64 indices, got float32");
  EXPECT_EQ(error_of([] { gather(x, 1, zeros({3, 1}, DType::int32)); }),
            "gather: an index of [3,1] does not fit x of [2,3] along dimension 1");
  EXPECT_EQ(error_of([] { index_select(x, 1, zeros({1, 2}, DType::int32)); }),
            "index_select: expected an index of one dimension, got [1,2]");
  EXPECT_EQ(error_of([] { scatter_add(x, 1, zeros({2, 4}, DType::int32), x); }),
            "scatter_add: an index of [2,4] does not fit src of [2,3]");
  EXPECT_EQ(error_of([] { scatter(x, 1, zeros({2, 1}, DType::int32), x.to(DType::float64)); }),
            "scatter: dtypes differ: x is float32, src is float64; convert with to()");
}

TEST(Indexing, DoesNotDependOnTheNumberOfThreads) {
  Random random(3);
  const Tensor table = randn({50, 3000}, random), src = randn({400, 3000}, random),
               index = randint(0, 50, {400}, random), each = randint(0, 50, {400, 3000}, random);
  const int before = num_threads();
  Tensor one, own;
  for (const int threads : {1, 2, 7}) {
    set_num_threads(threads);
    const Tensor sums = index_add(table, 0, index, src), sums_of_own = scatter_add(table, 0, each, src);
    if (threads == 1) {
      one = sums;
      own = sums_of_own;
    }
    EXPECT_TRUE(same_bits(sums, one)) << threads;
    EXPECT_TRUE(same_bits(sums_of_own, own)) << threads;
  }
  set_num_threads(before);
}

TEST(EmbeddingBag, AddsRows) {
  const Tensor weight = from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor indices = from_values<int64_t>({2, 2}, {0, 2, 1, 1});
  EXPECT_EQ(values(embedding_bag(indices, weight)), (Values{3, 4, 3, 4}));
  EXPECT_EQ(values(embedding_bag(indices, weight, BagMode::sum)), (Values{6, 8, 6, 8}));
  const Tensor offsets = from_values<int64_t>({3}, {0, 3, 3});
  EXPECT_EQ(values(embedding_bag(indices.flatten(), weight, offsets)), (Values{3, 4, 0, 0, 3, 4}));
  EXPECT_EQ(values(embedding_bag(indices.flatten(), weight, offsets, BagMode::sum)),
            (Values{9, 12, 0, 0, 3, 4}));
  EXPECT_EQ(values(embedding_bag(zeros({2, 0}, DType::int32), weight)), (Values{0, 0, 0, 0}));
  EXPECT_EQ(error_of([&] { embedding_bag(arange(3), weight, from_values<int32_t>({1}, {1})); }),
            "embedding_bag: the first offset must be 0");
  EXPECT_EQ(error_of([&] { embedding_bag(arange(3), weight); }),
            "embedding_bag: expected indices [B, L], or [N] with offsets, got [3]");
}

}  // namespace
}  // namespace cladtorch
