#include "tensor/random_normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch {
namespace {

std::vector<double> normals(const detail::NormalKernels& kernels, uint64_t first_word, int64_t n) {
  std::vector<double> values(static_cast<size_t>(n));
  kernels.fill_double({7, 3, first_word, 0, 1}, n, values.data());
  return values;
}

TEST(Normal, IsBoxMullerOfTheStreamWhereverItBegins) {
  for (const detail::NormalKernels& kernels : detail::normal_kernels()) {
    for (uint64_t first_word : {0, 1, 2, 3, 4, 1000003}) {
      const std::vector<double> values = normals(kernels, first_word, 2001);
      Random random(7, 3);
      random.seek(first_word);
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
        const double angle = 2 * M_PI * random.uniform();
        ASSERT_NEAR(values[i], radius * std::cos(angle), 4e-15) << kernels.name;
        ASSERT_NEAR(values[i + 1], radius * std::sin(angle), 4e-15) << kernels.name;
      }
    }
  }
}

TEST(Normal, HasTheSameBitsInEveryVariantAndFloatIsTheRoundedDouble) {
  const auto kernels = detail::normal_kernels();
  const std::vector<double> expected = normals(kernels.front(), 5, 100001);
  for (const detail::NormalKernels& variant : kernels) {
    EXPECT_EQ(normals(variant, 5, 100001), expected) << variant.name;
    std::vector<float> single(100001);
    variant.fill_float({7, 3, 5, 0, 1}, 100001, single.data());
    for (size_t i = 0; i < single.size(); ++i) ASSERT_EQ(single[i], static_cast<float>(expected[i]));
  }
}

TEST(Normal, WritesNothingPastTheEnd) {
  for (const detail::NormalKernels& kernels : detail::normal_kernels()) {
    for (int64_t n : {0, 1, 2, 31, 32, 33, 65}) {
      std::vector<float> values(static_cast<size_t>(n) + 1, 99.0f);
      kernels.fill_float({1, 0, 0, 0, 1}, n, values.data());
      EXPECT_EQ(values.back(), 99.0f);
      EXPECT_EQ(std::count(values.begin(), values.end(), 99.0f), 1);
    }
  }
}

/// Of a million values; each bound is five standard deviations of what it bounds.
TEST(Normal, HasTheMomentsAndTailsOfTheDistribution) {
  constexpr int64_t n = 1'000'000;
  const std::vector<double> values = normals(detail::normal_kernels().back(), 0, n);
  double sum = 0, squares = 0, cubes = 0, fourths = 0, neighbours = 0;
  std::vector<int64_t> beyond(5);
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    if (i > 0) neighbours += x * values[i - 1];
    for (size_t k = 1; k < beyond.size(); ++k) beyond[k] += std::abs(x) > static_cast<double>(k);
  }
  const double error = 5 / std::sqrt(n);
  EXPECT_NEAR(sum / n, 0, error);
  EXPECT_NEAR(squares / n, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(cubes / n, 0, error * std::sqrt(15.0));
  EXPECT_NEAR(fourths / n, 3, error * std::sqrt(96.0));
  EXPECT_NEAR(neighbours / n, 0, error) << "the halves of a pair are independent";
  for (size_t k = 1; k < beyond.size(); ++k) {
    const double p = std::erfc(static_cast<double>(k) / std::sqrt(2.0));
    EXPECT_NEAR(static_cast<double>(beyond[k]) / n, p, error * std::sqrt(p)) << k << " deviations";
  }
}

/// The Kolmogorov-Smirnov distance exceeds 1.95 / sqrt(n) once in a thousand samples.
TEST(Normal, FollowsTheDistributionFunction) {
  std::vector<double> values = normals(detail::normal_kernels().back(), 0, 200'000);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::erfc(-values[i] / std::sqrt(2.0)) / 2;
    distance = std::max(
        {distance, expected - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - expected});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

TEST(Normal, ElementsDependOnTheStateAndTheirPlaceOnly) {
  const int before = num_threads();
  constexpr int64_t n = 1'200'001;
  Random a(5), b(5);
  set_num_threads(1);
  const Tensor one = randn({n}, a);
  set_num_threads(3);
  const Tensor three = randn({n}, b), head = [] {
    Random again(5);
    return randn({1000}, again);
  }();
  set_num_threads(before);
  EXPECT_EQ(a.position(), b.position());
  EXPECT_EQ(a.position(), 4u * 600'001);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(one.data<float>()[i], three.data<float>()[i]);
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(one.data<float>()[i], head.data<float>()[i]);
}

}  // namespace
}  // namespace cladtorch
