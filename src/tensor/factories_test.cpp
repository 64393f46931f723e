#include "cladtorch/tensor/factories.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;

TEST(Factories, LinspaceHasBothEndsExactly) {
  for (const int64_t steps : {2, 3, 7, 100}) {
    const Tensor x = linspace(-0.1, 0.7, steps, DType::float64);
    EXPECT_EQ(x.select(0, 0).item(), -0.1);
    EXPECT_EQ(x.select(0, steps - 1).item(), 0.7);
    for (int64_t i = 0; i < steps; ++i)
      EXPECT_NEAR(x.select(0, i).item(), -0.1 + 0.8 * double(i) / double(steps - 1), 1e-15);
  }
  EXPECT_EQ(linspace(3, 4, 1).item(), 3);
  EXPECT_EQ(linspace(3, 4, 0).numel(), 0);
  EXPECT_EQ(error_of([] { linspace(0, 1, -1); }), "linspace: expected at least 0 steps, got -1");
}

TEST(Factories, EyeAndOneHot) {
  const Tensor x = eye(3, DType::int32);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(x.select(0, i).select(0, j).item(), i == j);
  const Tensor y = one_hot(from_values<int32_t>({2, 1}, {2, 0}), 3);
  EXPECT_EQ(y.shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(y.flatten().select(0, 2).item(), 1);
  EXPECT_EQ(y.flatten().select(0, 1).item(), 0);
  EXPECT_EQ(error_of([] { one_hot(from_values<int32_t>({1}, {3}), 3); }),
            "one_hot: index 3 is outside [0, 3)");
}

TEST(Factories, WholeNumbersAreUniform) {
  Random random(3);
  const Tensor x = randint(-2, 3, {20000}, random);
  int count[5] = {};
  for (int64_t i = 0; i < x.numel(); ++i) ++count[x.data<int32_t>()[i] + 2];
  for (const int of_one : count) EXPECT_NEAR(of_one, 4000, 250);  // four standard deviations
  EXPECT_EQ(error_of([&] { randint(3, 3, {1}, random); }),
            "randint: expected low < high within int32, got 3 and 3");
}

TEST(Factories, IntegersOf64Bits) {
  Random random(3);
  const Tensor x = randint(int64_t{1} << 40, (int64_t{1} << 40) + 2, {100}, random, DType::int64);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(x.data<int64_t>()[i] >> 1, int64_t{1} << 39);
  EXPECT_EQ(arange(3, DType::int64).to_string(), "tensor([0, 1, 2], shape=[3], dtype=int64)");
  EXPECT_EQ(one_hot(arange(3, DType::int64), 3).to_string(), eye(3).to_string());
  EXPECT_EQ(error_of([] { one_hot(from_values<int64_t>({1}, {int64_t{1} << 32}), 3); }),
            "one_hot: 4294967296 among the indices does not fit in int32");
  EXPECT_EQ(error_of([] { one_hot(zeros({1}, DType::boolean), 3); }),
            "one_hot: expected int32 or int64 indices, got bool");
}

TEST(Factories, APermutationHasEachNumberOnce) {
  Random random(4);
  const Tensor x = randperm(100, random), again = randperm(100, random);
  std::set<int32_t> found(x.data<int32_t>(), x.data<int32_t>() + 100);
  EXPECT_EQ(found.size(), 100u);
  EXPECT_EQ(*found.rbegin(), 99);
  EXPECT_NE(testing::relative_difference(x, again), 0);
}

TEST(Factories, BernoulliKeepsProbabilities) {
  Random random(5);
  const Tensor x = bernoulli(full({20000}, 0.3), random);
  double ones = 0;
  for (int64_t i = 0; i < x.numel(); ++i) ones += x.data<float>()[i];
  EXPECT_NEAR(ones / 20000, 0.3, 0.013);  // four standard deviations
  EXPECT_EQ(error_of([&] { bernoulli(full({1}, 2), random); }), "bernoulli: 2 is no probability");
}

}  // namespace
}  // namespace cladtorch
