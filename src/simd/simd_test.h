// What the tests of kernels share: each runs with every instruction set of this processor.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cladtorch/random.h"
#include "simd/kernels.h"

namespace cladtorch::simd {

class Simd : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    kernels_ = find_kernels(GetParam());
    if (!kernels_) GTEST_SKIP() << GetParam() << " does not run on this processor";
  }
  std::vector<int64_t> lengths() const {
    const int64_t n = kernels_->vector_length;
    return {0, 1, n - 1, n, n + 1, 8 * n + 2, 257};
  }
  /// A pointwise function without parameters.
  template <class F>
  void value(int64_t n, const float* x, float* y) const {
    const F f;
    kernels_->functions[functions::index_of<F>].value(&f, n, x, y);
  }
  template <class F>
  void pullback(int64_t n, const float* at, const float* d_y, float* d_x, bool add) const {
    const F f;
    kernels_->functions[functions::index_of<F>].pullback(&f, n, at, d_y, d_x, add);
  }

  const Kernels* kernels_ = nullptr;
};

/// Unaligned on purpose: one element is skipped.
inline std::vector<float> normals(int64_t n, uint64_t seed, double deviation = 1) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n) + 1);
  for (float& value : values) value = static_cast<float>(deviation * random.normal());
  return values;
}

/// Halves of random values.
inline std::vector<bfloat16> rounded_normals(int64_t n, uint64_t seed) {
  std::vector<bfloat16> values;
  for (float value : normals(n, seed)) values.push_back(bfloat16(value));
  return values;
}

inline auto instruction_sets() { return testing::Values("portable", "avx2", "avx512", "avx512bf16"); }
inline std::string name_of_set(const testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace cladtorch::simd
