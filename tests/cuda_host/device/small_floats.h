// Numbers of 8 bits: the two formats of "FP8 Formats for Deep Learning" (Micikevicius et al. 2022).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cuda_host::detail {

// 1 sign, 4 exponent and 3 fraction bits; no infinities, one NaN of either sign, 448 at most.
inline float decode_e4m3(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15);
  const auto fraction = static_cast<float>(bits & 7);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if ((bits & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, -9);
  return sign * std::ldexp(8.0f + fraction, exponent - 10);
}

// 1 sign, 5 exponent and 2 fraction bits, with infinities and NaNs as in IEEE 754.
inline float decode_e5m2(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 2 & 31);
  const auto fraction = static_cast<float>(bits & 3);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -16);
  return sign * std::ldexp(4.0f + fraction, exponent - 17);
}

}  // namespace cuda_host::detail
