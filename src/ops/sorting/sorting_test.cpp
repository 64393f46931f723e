#include "cladtorch/ops/sorting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/ops/cumulative.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Values = std::vector<double>;

Values values(const Tensor& x) {
  const Tensor dense = x.to(DType::float64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}

const Tensor x = from_values<float>({2, 4}, {3, 1, 3, 2, 5, 8, 7, 6});

TEST(Sort, OrdersAlongADimension) {
  EXPECT_EQ(values(sort(x).values), (Values{1, 2, 3, 3, 5, 6, 7, 8}));
  EXPECT_EQ(values(sort(x).indices), (Values{1, 3, 0, 2, 0, 3, 2, 1}));
  EXPECT_EQ(values(argsort(x, 1, true)), (Values{0, 2, 3, 1, 1, 2, 3, 0}));
  EXPECT_EQ(values(sort(x, 0, true).values), (Values{5, 8, 7, 6, 3, 1, 3, 2}));
  EXPECT_EQ(argsort(x).dtype(), DType::int32);
  EXPECT_EQ(sort(arange(3, DType::int64), 0, true).values.to_string(),
            "tensor([2, 1, 0], shape=[3], dtype=int64)");
  EXPECT_EQ(values(sort(from_values<bool>({3}, {true, false, true})).indices), (Values{1, 0, 2}));
  EXPECT_EQ(sort(zeros({2, 0})).values.shape(), (Shape{2, 0}));
}

TEST(Sort, NanIsLargerThanAllNumbers) {
  const Tensor nan = from_values<double>({4}, {2, NAN, INFINITY, 1});
  EXPECT_EQ(values(argsort(nan)), (Values{3, 0, 2, 1}));
  EXPECT_EQ(values(argsort(nan, 0, true)), (Values{1, 2, 0, 3}));
  EXPECT_EQ(values(topk(nan, 2).indices), (Values{1, 2}));
  EXPECT_EQ(values(kthvalue(nan, 4).indices), (Values{1}));
  EXPECT_EQ(median(nan, 0).indices.item(), 1);
  EXPECT_TRUE(std::isnan(median(nan).item()));
}

TEST(Topk, TakesTheLargestAndTheSmallest) {
  EXPECT_EQ(values(topk(x, 2).values), (Values{3, 3, 8, 7}));
  EXPECT_EQ(values(topk(x, 2).indices), (Values{0, 2, 1, 2}));
  EXPECT_EQ(values(topk(x, 2, 1, false).values), (Values{1, 2, 5, 6}));
  EXPECT_EQ(values(topk(x, 1, 0).values), (Values{5, 8, 7, 6}));
  EXPECT_EQ(topk(x, 0).values.shape(), (Shape{2, 0}));
  EXPECT_EQ(error_of([] { topk(x, 5); }), "topk: expected k from 0 to 4 for dimension -1 of [2,4], got 5");
}

TEST(Topk, AgreesWithASort) {
  Random random(4);
  const Tensor many = randint(0, 50, {3, 200, 5}, random, DType::float64);
  for (const bool largest : {false, true}) {
    const Tensor expected = argsort(many, 1, largest);
    for (const int64_t k : {1, 7, 200})
      EXPECT_EQ(values(topk(many, k, 1, largest).indices), values(expected.narrow(1, 0, k)));
    EXPECT_EQ(values(kthvalue(many, 9, 1, true).indices), values(argsort(many, 1).narrow(1, 8, 1)));
  }
}

TEST(Median, IsTheLowerOfTwo) {
  EXPECT_EQ(values(median(x, 1).values), (Values{2, 6}));
  EXPECT_EQ(values(median(x, 1).indices), (Values{3, 3}));
  EXPECT_EQ(median(x, 1, true).values.shape(), (Shape{2, 1}));
  EXPECT_EQ(median(x).item(), 3);
  EXPECT_EQ(values(kthvalue(x, 3).values), (Values{3, 7}));
  EXPECT_EQ(kthvalue(x, 3, 0 - 1).values.shape(), (Shape{2}));
  EXPECT_EQ(error_of([] { kthvalue(x, 0); }),
            "kthvalue: expected k from 1 to 4 for dimension -1 of [2,4], got 0");
  EXPECT_EQ(error_of([] { median(zeros({0}), 0); }), "median: dimension 0 of shape [0] is empty");
}

TEST(Cummax, KeepsTheLargestSoFar) {
  const Tensor y = from_values<float>({5}, {1, 3, 3, NAN, 4});
  EXPECT_EQ(values(cummax(y.narrow(0, 0, 3), 0).values), (Values{1, 3, 3}));
  EXPECT_EQ(values(cummax(y, 0).indices), (Values{0, 1, 2, 3, 3}));
  EXPECT_EQ(values(cummin(x, 1).values), (Values{3, 1, 1, 1, 5, 5, 5, 5}));
}

TEST(Cumprod, Multiplies) {
  EXPECT_EQ(values(cumprod(x, 1)), (Values{3, 3, 9, 18, 5, 40, 280, 1680}));
  EXPECT_EQ(values(prod(x, 1)), (Values{18, 1680}));
  EXPECT_EQ(prod(x, 0, true).shape(), (Shape{1, 4}));
  EXPECT_EQ(prod(x).item(), 18 * 1680);
  EXPECT_EQ(error_of([] { prod(zeros({2, 0}), 1); }), "prod: dimension 1 of shape [2,0] is empty");
  EXPECT_EQ(error_of([] { cumprod(arange(3), 0); }),
            "cumprod: expected float32 or float64, got int32; convert with to()");
}

/// With none, one and two zeros.
TEST(Cumprod, DerivativeIsExactWithZeros) {
  for (const Values& line : {Values{2, 3, 4, 5}, Values{2, 0, 4, 5}, Values{0, 3, 0, 5}}) {
    EXPECT_TRUE(testing::gradients_match([](const Tensors& of) { return cumprod(of[0], 0); },
                                         [](const Tensors& of, Tensor d_y, const std::vector<Tensor*>& d) {
                                           pullbacks::cumprod_pullback(of[0], 0, std::move(d_y), d[0]);
                                         },
                                         {from_values<double>({4}, line)}));
    EXPECT_TRUE(testing::gradients_match(
        [](const Tensors& of) { return tangents::of_cumprod(of[0], of[1], 0); },
        [](const Tensors& of, Tensor d_y, const std::vector<Tensor*>& d) {
          pullbacks::tangents::of_cumprod_pullback(of[0], of[1], 0, std::move(d_y), d[0], d[1]);
        },
        {from_values<double>({4}, line), normals({{4}})[0]}));
  }
}

}  // namespace
}  // namespace cladtorch
