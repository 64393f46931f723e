#include "tensor/bfloat16_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cladtorch/random.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t lengths[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 130, 257};

/// Ties, the largest float, subnormals, signed zeros, infinities and NaNs, then normal values.
std::vector<float> values(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> result = {1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f,   1e-40f,    -0.0f,
                               0.0f,        INFINITY,    -INFINITY,    NAN,       -NAN,      0x1p-133f,
                               0x1.8p-134f, 65280.0f,    1e-7f,        1.999999f, -3.14159f, 0x1p-126f};
  while (static_cast<int64_t>(result.size()) < n) result.push_back(static_cast<float>(random.normal()));
  result.resize(static_cast<size_t>(n));
  return result;
}

std::vector<bfloat16> rounded(const std::vector<float>& from) {
  return std::vector<bfloat16>(from.begin(), from.end());
}

TEST(Bfloat16Kernels, ConvertAsTheTypeDoesAtEveryLength) {
  for (const Bfloat16Kernels& kernels : bfloat16_kernels()) {
    for (const int64_t n : lengths) {
      const std::vector<float> wide = values(n, 1);
      const std::vector<bfloat16> expected = rounded(wide);
      std::vector<bfloat16> narrow(wide.size() + 1, bfloat16(7.0f));
      kernels.narrow(n, wide.data(), narrow.data());
      std::vector<float> back(wide.size() + 1, 7.0f);
      kernels.widen(n, narrow.data(), back.data());
      for (size_t i = 0; i < wide.size(); ++i) {
        ASSERT_EQ(narrow[i].bits, expected[i].bits) << kernels.name << ' ' << wide[i];
        ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), uint32_t{expected[i].bits} << 16) << kernels.name;
      }
      EXPECT_EQ(narrow.back().bits, bfloat16(7.0f).bits) << "written past the end";
      EXPECT_EQ(back.back(), 7.0f) << "written past the end";
    }
  }
}

TEST(Bfloat16Kernels, AddInFloatAndRoundOnce) {
  for (const Bfloat16Kernels& kernels : bfloat16_kernels()) {
    for (const int64_t n : lengths) {
      const std::vector<bfloat16> x = rounded(values(n, 1));
      std::vector<float> wide = values(n, 2), wide_before = wide;
      std::vector<bfloat16> narrow = rounded(wide), narrow_before = narrow;
      kernels.add(n, x.data(), narrow.data());
      kernels.add_wide(n, x.data(), wide.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const float sum = static_cast<float>(narrow_before[i]) + static_cast<float>(x[i]);
        const float wide_sum = wide_before[i] + static_cast<float>(x[i]);
        if (std::isnan(sum)) {
          EXPECT_TRUE(std::isnan(static_cast<float>(narrow[i])) && std::isnan(wide[i])) << kernels.name;
        } else {
          ASSERT_EQ(narrow[i].bits, bfloat16(sum).bits) << kernels.name;
          ASSERT_EQ(wide[i], wide_sum) << kernels.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cladtorch::detail
