#include "cladtorch/tensor/tensor.h"

#include <gmock/gmock.h>

#include <cmath>

#include "cladtorch/tensor/factories.h"

namespace cladtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(auto&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tensor, DefaultConstructedIsUndefined) {
  const Tensor x;
  EXPECT_FALSE(x.defined());
  EXPECT_THAT(error_of([&] { x.data<float>(); }), HasSubstr("undefined"));
}

TEST(Tensor, CopiesOfAHandleShareStorage) {
  Tensor a = zeros({2});
  Tensor b = a;
  b.data<float>()[1] = 5;
  EXPECT_EQ(a.data<float>()[1], 5);
  EXPECT_TRUE(a.shares_storage_with(b));
  EXPECT_FALSE(a.shares_storage_with(a.clone()));
}

TEST(Tensor, DataChecksTheDtype) {
  const Tensor x = zeros({1});
  EXPECT_EQ(error_of([&] { x.data<double>(); }),
            "data: the tensor is float32, asked for float64; convert with to()");
}

TEST(Tensor, ItemReadsOneElementOfAnyDtype) {
  EXPECT_EQ(full({}, 2.5, DType::float64).item(), 2.5);
  EXPECT_EQ(full({1, 1}, 7, DType::int32).item(), 7);
  EXPECT_EQ(full({1}, 1.5, DType::bfloat16).item(), 1.5);
  EXPECT_EQ(from_values<int64_t>({}, {int64_t{1} << 40}).item(), 0x1p40);
  EXPECT_EQ(from_values<bool>({}, {true}).item(), 1);
  EXPECT_THAT(error_of([] { zeros({2}).item(); }), HasSubstr("[2]"));
}

TEST(Tensor, FactoriesFillAsTheirNamesSay) {
  EXPECT_EQ(ones({3}).data<float>()[2], 1);
  const Tensor indices = arange(4);
  EXPECT_EQ(indices.dtype(), DType::int32);
  EXPECT_EQ(indices.data<int32_t>()[3], 3);
  EXPECT_EQ(zeros({0, 5}).numel(), 0);
  EXPECT_THAT(error_of([] { from_values<float>({2, 2}, {1, 2, 3}); }), HasSubstr("needs 4 values, got 3"));
  EXPECT_THAT(error_of([] { zeros({-1}); }), HasSubstr("negative"));
}

TEST(Tensor, NormalValuesHaveUnitMomentsAndRepeat) {
  Random random(7);
  const Tensor x = randn({20000}, random, DType::float64);
  double mean = 0, square = 0;
  for (int i = 0; i < 20000; ++i) {
    mean += x.data<double>()[i] / 20000;
    square += x.data<double>()[i] * x.data<double>()[i] / 20000;
  }
  EXPECT_NEAR(mean, 0, 0.03);
  EXPECT_NEAR(square, 1, 0.05);

  Random again(7);
  const Tensor front = randn({5000}, again, DType::float64), back = randn({15000}, again, DType::float64);
  EXPECT_EQ(front.data<double>()[4999], x.data<double>()[4999]);
  EXPECT_EQ(back.data<double>()[0], x.data<double>()[5000]);
  EXPECT_NEAR(normal({1}, again, 100, 1e-6).item(), 100, 1e-4);
  EXPECT_EQ(randn({3}, again).size(0), 3);
  EXPECT_EQ(again.position() % 4, 0u) << "an odd count takes a whole block";
}

TEST(Tensor, ConvertsBetweenAllDtypes) {
  const Tensor x = from_values<double>({3}, {-1.0, 0.1, 3.0});
  EXPECT_FLOAT_EQ(x.to(DType::float32).data<float>()[1], 0.1f);
  EXPECT_EQ(x.to(DType::int32).data<int32_t>()[2], 3);
  EXPECT_NEAR(x.to(DType::bfloat16).to(DType::float64).data<double>()[1], 0.1, 0.1 / 256);
  EXPECT_TRUE(x.to(DType::float64).shares_storage_with(x));
}

TEST(Tensor, ConvertsWhatNoInteger32Holds) {
  const std::vector<double> values = {NAN, INFINITY, -INFINITY, 0x1p31, -0x1p31, 1e300, -2.9};
  const std::vector<int32_t> expected = {0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, -2};
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    const Tensor x = from_values<double>({7}, values).to(dtype).to(DType::int32);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(x.data<int32_t>()[i], expected[i]) << values[i];
  }
}

TEST(Tensor, IntegersOf64BitsKeepTheirDigits) {
  const int64_t odd = (int64_t{1} << 62) + 1;
  const Tensor x = from_values<int64_t>({4}, {odd, -odd, 3, 0});
  EXPECT_EQ(x.clone().data<int64_t>()[0], odd);
  EXPECT_EQ(x.to_string(),
            "tensor([4611686018427387905, -4611686018427387905, 3, 0], shape=[4], dtype=int64)");
  const Tensor narrow = x.to(DType::int32);
  EXPECT_THAT(std::vector<int32_t>(narrow.data<int32_t>(), narrow.data<int32_t>() + 4),
              ElementsAre(INT32_MAX, INT32_MIN, 3, 0));
  EXPECT_EQ(narrow.to(DType::int64).data<int64_t>()[1], INT32_MIN);
  const std::vector<double> values = {NAN, INFINITY, -0x1p63, 0x1p63, -2.9, 0x1p53};
  const std::vector<int64_t> expected = {0, INT64_MAX, INT64_MIN, INT64_MAX, -2, int64_t{1} << 53};
  for (const DType dtype : {DType::float64, DType::float32}) {
    const Tensor y = from_values<double>({6}, values).to(dtype).to(DType::int64);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(y.data<int64_t>()[i], expected[i]) << values[i];
  }
}

TEST(Tensor, TruthValuesAreWhatIsNotZero) {
  const Tensor x = from_values<double>({2, 2}, {0, 0.25, -3, NAN}).to(DType::boolean);
  EXPECT_EQ(x.nbytes(), 4u);
  EXPECT_EQ(x.to_string(), "tensor([[False, True],\n        [True, True]], shape=[2,2], dtype=bool)");
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::int32, DType::int64}) {
    EXPECT_EQ(x.to(dtype).select(0, 1).select(0, 0).item(), 1) << dtype;
    EXPECT_EQ(full({}, 2, dtype).to(DType::boolean).item(), 1) << dtype;
  }
  EXPECT_EQ(x.transpose(0, 1).contiguous().select(0, 0).select(0, 1).item(), 1);
  EXPECT_EQ(ones({1}, DType::boolean).item() + zeros({1}, DType::boolean).item(), 1);
}

TEST(BFloat16, RandomValuesAreThoseOfFloat32Rounded) {
  for (int64_t n : {1, 511, 513, 2000}) {
    Random wide(7), narrow(7);
    randn({3}, wide);  // leaves the stream inside a pair
    randn({3}, narrow);
    const Tensor x = normal({n}, wide, 1, 0.02).to(DType::bfloat16),
                 y = normal({n}, narrow, 1, 0.02, DType::bfloat16), u = rand({n}, wide).to(DType::bfloat16),
                 v = rand({n}, narrow, DType::bfloat16);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(y.data<bfloat16>()[i].bits, x.data<bfloat16>()[i].bits) << i;
      ASSERT_EQ(v.data<bfloat16>()[i].bits, u.data<bfloat16>()[i].bits) << i;
    }
    EXPECT_EQ(wide.position(), narrow.position());
  }
}

TEST(BFloat16, StridedAndDenseConversionsAgree) {
  const Tensor x = arange(700, DType::float32).reshape({7, 100});
  const Tensor dense = x.transpose(0, 1).to(DType::bfloat16), strided = x.to(DType::bfloat16).transpose(0, 1);
  for (int64_t i = 0; i < 700; ++i)
    ASSERT_EQ(dense.data<bfloat16>()[i].bits, strided.contiguous().data<bfloat16>()[i].bits);
  EXPECT_EQ(strided.to(DType::float32).select(0, 3).select(0, 1).item(), 103);
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(static_cast<float>(bfloat16(1.00390625f)), 1.0f);       // 1 + 2^-8 ties to even
  EXPECT_EQ(static_cast<float>(bfloat16(1.01171875f)), 1.015625f);  // 1 + 3 * 2^-8 ties to even
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(bfloat16(INFINITY))));
}

TEST(Tensor, PrintsValuesShapeAndDtype) {
  EXPECT_EQ(from_values<int32_t>({2, 2}, {1, 2, 3, 4}).to_string(),
            "tensor([[1, 2],\n        [3, 4]], shape=[2,2], dtype=int32)");
  EXPECT_EQ(full({1}, 0.5, DType::bfloat16).to_string(), "tensor([0.5000], shape=[1], dtype=bfloat16)");
  EXPECT_EQ(full({}, 0.5).to_string(), "tensor(0.5000, shape=[], dtype=float32)");
  EXPECT_EQ(arange(2000).to_string(), "tensor([0, 1, 2, ..., 1997, 1998, 1999], shape=[2000], dtype=int32)");
  EXPECT_EQ(Tensor().to_string(), "tensor(undefined)");
  EXPECT_THAT(full({1}, 1e-7).to_string(), HasSubstr("1.0000e-07"));
}

TEST(Tensor, NoOtherDeviceThanTheCpuExistsYet) {
  EXPECT_THAT(error_of([] { zeros({1}, DType::float32, {DeviceType::cuda, 1}); }), HasSubstr("cuda:1"));
}

}  // namespace
}  // namespace cladtorch
