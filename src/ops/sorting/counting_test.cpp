#include "cladtorch/ops/counting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;
using Values = std::vector<double>;

Values values(const Tensor& x) {
  const Tensor dense = x.to(DType::float64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}
Tensor floats(std::initializer_list<float> list) {
  return from_values<float>({static_cast<int64_t>(list.size())}, list);
}

TEST(Unique, ListsDistinctElementsInOrder) {
  const Tensor x = from_values<float>({2, 3}, {3, 1, 3, 2, 1, 3});
  const UniqueElements u = unique(x);
  EXPECT_EQ(values(u.output), (Values{1, 2, 3}));
  EXPECT_EQ(values(u.inverse_indices), (Values{2, 0, 2, 1, 0, 2}));
  EXPECT_EQ(u.inverse_indices.shape(), x.shape());
  EXPECT_EQ(values(u.counts), (Values{2, 1, 3}));
  EXPECT_EQ(u.counts.dtype(), DType::int32);
  EXPECT_EQ(unique(x.transpose(0, 1).to(DType::int64)).output.dtype(), DType::int64);
  EXPECT_EQ(values(unique(x.transpose(0, 1)).inverse_indices), (Values{2, 1, 0, 0, 2, 2}));
  EXPECT_EQ(unique(zeros({0})).output.shape(), (Shape{0}));
  EXPECT_EQ(values(unique(from_values<bool>({3}, {true, false, true})).output), (Values{0, 1}));
}

TEST(Unique, TakesEachNanForOneOfItsOwn) {
  const UniqueElements u = unique(floats({NAN, 2, NAN, -INFINITY}));
  EXPECT_EQ(values(u.counts), (Values{1, 1, 1, 1}));
  EXPECT_EQ(values(u.inverse_indices), (Values{2, 1, 3, 0}));
}

TEST(Unique, OfRunsKeepsTheOrder) {
  const UniqueElements u = unique_consecutive(floats({2, 2, 1, 1, 1, 2}));
  EXPECT_EQ(values(u.output), (Values{2, 1, 2}));
  EXPECT_EQ(values(u.counts), (Values{2, 3, 1}));
  EXPECT_EQ(values(u.inverse_indices), (Values{0, 0, 1, 1, 1, 2}));
}

TEST(Unique, AgreesWithASearchInTheResult) {
  Random random(4);
  const Tensor x = randint(0, 60, {37, 11}, random);
  const UniqueElements u = unique(x);
  EXPECT_EQ(values(gather(u.output, 0, u.inverse_indices.flatten())), values(x.flatten()));
  EXPECT_EQ(values(bincount(u.inverse_indices.flatten())), values(u.counts));
  EXPECT_EQ(values(searchsorted(u.output, x)), values(u.inverse_indices));
}

TEST(Bincount, CountsAndAddsWeights) {
  const Tensor x = from_values<int64_t>({5}, {3, 0, 3, 1, 3});
  EXPECT_EQ(values(bincount(x)), (Values{1, 1, 0, 3}));
  EXPECT_EQ(values(bincount(x, 6)), (Values{1, 1, 0, 3, 0, 0}));
  EXPECT_EQ(values(bincount(x, floats({1, 2, 4, 8, 16}), 5)), (Values{2, 8, 0, 21, 0}));
  EXPECT_EQ(bincount(x).dtype(), DType::int32);
  EXPECT_EQ(bincount(zeros({0}, DType::int32)).shape(), (Shape{0}));
  EXPECT_EQ(error_of([] { bincount(from_values<int32_t>({2}, {1, -4})); }),
            "bincount: element 1 is negative: -4");
  EXPECT_EQ(error_of([] { bincount(zeros({2, 2}, DType::int32)); }),
            "bincount: expected integers [n], got [2,2]");
}

TEST(Histc, CountsInEqualParts) {
  const Tensor x = floats({0, 0.5, 1, 1.5, 2, 4, -1, NAN});
  EXPECT_EQ(values(histc(x, 4, 0, 2)), (Values{1, 1, 1, 2}));
  EXPECT_EQ(values(histc(floats({3, 1, 2, 1}), 2)), (Values{2, 2}));
  EXPECT_EQ(values(histc(floats({5, 5}), 4)), (Values{0, 0, 2, 0}));
  EXPECT_EQ(values(histc(zeros({0}), 3)), (Values{0, 0, 0}));
  EXPECT_EQ(error_of([] { histc(zeros({2}), 0); }), "histc: expected a number of bins above 0, got 0");
  EXPECT_EQ(error_of([] { histc(zeros({2}), 3, 2, 1); }),
            "histc: expected a finite range with min below max, got 2 to 1");
}

TEST(Searchsorted, FindsThePlacesBeforeAndBehindEqualElements) {
  const Tensor sequence = floats({1, 3, 3, 5}), x = from_values<float>({2, 3}, {0, 3, 4, 5, 6, NAN});
  EXPECT_EQ(values(searchsorted(sequence, x)), (Values{0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(values(bucketize(x, sequence, true)), (Values{0, 3, 3, 4, 4, 4}));
  EXPECT_EQ(searchsorted(sequence, x).shape(), x.shape());
  const Tensor rows = from_values<int32_t>({2, 2}, {1, 2, 10, 20});
  EXPECT_EQ(values(searchsorted(rows, from_values<int32_t>({2, 3}, {2, 0, 9, 2, 15, 30}))),
            (Values{1, 0, 2, 0, 1, 2}));
  EXPECT_EQ(error_of([&] { searchsorted(rows, zeros({3}, DType::int32)); }),
            "searchsorted: expected values with the leading dimensions of the sequence [2,2], got [3]");
  EXPECT_EQ(error_of([&] { searchsorted(rows, zeros({2, 1})); }),
            "searchsorted: the sequence is int32, the values are float32; convert with to()");
}

TEST(Isclose, ComparesWithATolerance) {
  const Tensor a = floats({1, INFINITY, NAN, 0, INFINITY}), b = floats({1.000005f, INFINITY, NAN, 1e-7f, 3});
  EXPECT_EQ(values(isclose(a, b)), (Values{1, 1, 0, 0, 0}));
  EXPECT_EQ(values(isclose(a, b, 1e-5, 1e-6, true)), (Values{1, 1, 1, 1, 0}));
  EXPECT_FALSE(isclose(from_values<int32_t>({1}, {7}), from_values<int32_t>({1}, {8})).item());
  EXPECT_TRUE(allclose(a.narrow(0, 0, 2), b.narrow(0, 0, 2)));
  EXPECT_FALSE(allclose(a, b));
}

TEST(NanToNum, ReplacesWhatIsNotFinite) {
  const Tensor x = floats({NAN, INFINITY, -INFINITY, 2});
  EXPECT_EQ(values(nan_to_num(x, 1, 2, 3)), (Values{1, 2, 3, 2}));
  const double most = std::numeric_limits<float>::max();
  EXPECT_EQ(values(nan_to_num(x)), (Values{0, most, -most, 2}));
  EXPECT_EQ(values(nan_to_num(x.to(DType::bfloat16)))[1], 0x1.fep127);
}

}  // namespace
}  // namespace cladtorch
