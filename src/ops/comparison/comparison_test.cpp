#include "cladtorch/ops/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;

std::string values(const Tensor& x) {
  EXPECT_EQ(x.dtype(), DType::boolean);
  const Tensor dense = x.contiguous();
  std::string text;
  for (int64_t i = 0; i < dense.numel(); ++i) text += dense.data<bool>()[i] ? '1' : '0';
  return text;
}

TEST(Comparison, OfTensorsAndNumbers) {
  const Tensor a = from_values<float>({4}, {1, 2, 3, NAN}), b = from_values<float>({4}, {2, 2, 1, NAN});
  EXPECT_EQ(values(eq(a, b)), "0100");
  EXPECT_EQ(values(ne(a, b)), "1011");
  EXPECT_EQ(values(lt(a, b)), "1000");
  EXPECT_EQ(values(a < b), "1000");
  EXPECT_EQ(values(a <= b), "1100");
  EXPECT_EQ(values(a > b), "0010");
  EXPECT_EQ(values(a >= b), "0110");
  EXPECT_EQ(values(eq(a, 2)), "0100");
  EXPECT_EQ(values(ne(a, 2)), "1011");
  EXPECT_EQ(values(a < 2), "1000");
  EXPECT_EQ(values(a <= 2), "1100");
  EXPECT_EQ(values(a > 2), "0010");
  EXPECT_EQ(values(a >= 2), "0110");
}

TEST(Comparison, Broadcasts) {
  const Tensor rows = arange(3).reshape({3, 1}), columns = arange(3, DType::int64);
  const Tensor y = ge(rows, columns);
  EXPECT_EQ(y.shape(), (Shape{3, 3}));
  EXPECT_EQ(values(y), "100110111");
  EXPECT_EQ(values(y.transpose(0, 1).select(0, 0)), "111");
  EXPECT_EQ(values(lt(zeros({0, 3}), zeros({3}))), "");
}

TEST(Comparison, OfTwoDtypesIsThatOfPyTorch) {
  const int64_t large = (int64_t{1} << 53) + 1;
  EXPECT_EQ(values(eq(from_values<int64_t>({1}, {large}), from_values<int32_t>({1}, {1}))), "0");
  EXPECT_EQ(values(gt(from_values<int64_t>({1}, {large}), static_cast<double>(large - 1))), "1");
  EXPECT_EQ(values(eq(arange(3), arange(3, DType::int64))), "111");
  EXPECT_EQ(values(eq(arange(3), arange(3, DType::float64))), "111");
  EXPECT_EQ(values(eq(full({1}, 0.1), 0.1)), "1") << "in float32";
  EXPECT_EQ(values(eq(full({1}, 0.1), full({1}, 0.1, DType::float64))), "0");
  EXPECT_EQ(values(lt(arange(3), 1.5)), "110");
  EXPECT_EQ(values(eq(full({1}, 1.5, DType::bfloat16), 1.5)), "1");
  EXPECT_EQ(values(eq(from_values<bool>({2}, {true, false}), 1)), "10");
}

TEST(Comparison, Logic) {
  const Tensor a = from_values<float>({4}, {0, 0, 2, NAN}), b = from_values<int32_t>({4}, {0, 1, 0, 7});
  EXPECT_EQ(values(logical_and(a, b)), "0001");
  EXPECT_EQ(values(logical_or(a, b)), "0111");
  EXPECT_EQ(values(logical_xor(a, b)), "0110");
  EXPECT_EQ(values(logical_not(a)), "1100");
}

TEST(Comparison, OfWhatIsNotFinite) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const Tensor x = from_values<double>({4}, {1, NAN, INFINITY, -INFINITY}).to(dtype);
    EXPECT_EQ(values(isnan(x)), "0100");
    EXPECT_EQ(values(isinf(x)), "0011");
    EXPECT_EQ(values(isfinite(x)), "1000");
  }
  EXPECT_EQ(values(isfinite(arange(2))) + values(isinf(arange(2))) + values(isnan(arange(2))), "110000");
}

TEST(Comparison, AnyAndAll) {
  const Tensor x = from_values<bool>({2, 3}, {true, false, false, true, true, false});
  EXPECT_EQ(values(any(x)) + values(all(x)), "10");
  EXPECT_EQ(values(any(x, 0)), "110");
  EXPECT_EQ(values(all(x, 0)), "100");
  EXPECT_EQ(all(x, -1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(values(all(ones({4}))), "1");
  EXPECT_EQ(values(any(zeros({0}))) + values(all(zeros({0}))), "01");
}

TEST(Comparison, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { lt(zeros({2}), zeros({3})); }), "lt: shapes do not broadcast: a is [2], b is [3]");
  EXPECT_EQ(error_of([] { eq(zeros({2}), Tensor()); }), "eq: b is undefined");
}

}  // namespace
}  // namespace cladtorch
