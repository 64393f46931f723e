// How numbers are rounded to 8 bits: the same bits on every device.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cladtorch/tensor/dtype.h"
#include "cladtorch/tensor/host_device.h"

namespace cladtorch::detail {

template <class Format>
struct Float8Format;
template <>
struct Float8Format<float8_e4m3> {
  static constexpr int mantissa_bits = 3, bias = 7;
  static constexpr uint8_t largest = 0x7e, nan = 0x7f;
  static constexpr int largest_exponent = 8;  ///< of the largest number, 1.75 2^8
};
template <>
struct Float8Format<float8_e5m2> {
  static constexpr int mantissa_bits = 2, bias = 15;
  static constexpr uint8_t largest = 0x7b, nan = 0x7f;
  static constexpr int largest_exponent = 15;  ///< 1.75 2^15
};

CLADTORCH_HOST_DEVICE inline uint32_t bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<uint32_t>(x);
#endif
}
CLADTORCH_HOST_DEVICE inline float float_of(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// To the nearest, ties to even. Numbers out of range become the largest, what is not finite NaN.
template <class Format>
CLADTORCH_HOST_DEVICE inline Format rounded_to_float8(float x) {
  using F = Float8Format<Format>;
  constexpr int shift = 23 - F::mantissa_bits;
  const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffffu;
  const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80u);
  Format y;
  if (magnitude >= 0x7f800000u) {
    y.bits = F::nan;
  } else if (magnitude < static_cast<uint32_t>(128 - F::bias) << 23) {
    // Without a leading one: a float whose last digit has the weight of the format's last does the rounding.
    const float unit = float_of(static_cast<uint32_t>(151 - F::bias - F::mantissa_bits) << 23);
    y.bits = static_cast<uint8_t>(sign | (bits_of(float_of(magnitude) + unit) - bits_of(unit)));
  } else {
    const uint32_t rounded = (magnitude + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1u)) >> shift;
    const uint32_t code = rounded - (static_cast<uint32_t>(127 - F::bias) << F::mantissa_bits);
    y.bits = static_cast<uint8_t>(sign | (code < F::largest ? code : F::largest));
  }
  return y;
}

template <class Format>
CLADTORCH_HOST_DEVICE inline float float8_to_float(Format x) {
  using F = Float8Format<Format>;
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x80u) << 24, code = x.bits & 0x7fu;
  if (code > F::largest) {
    // e5m2 has an infinity, which rounding never makes.
    const bool infinite = std::is_same_v<Format, float8_e5m2> && code == F::largest + 1;
    return float_of(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t exponent = code >> F::mantissa_bits;
  if (exponent == 0) {
    const float unit = float_of(static_cast<uint32_t>(128 - F::bias - F::mantissa_bits) << 23);
    const float value = static_cast<float>(code) * unit;
    return sign ? -value : value;
  }
  return float_of(sign | ((code + (static_cast<uint32_t>(127 - F::bias) << F::mantissa_bits))
                          << (23 - F::mantissa_bits)));
}

/// The largest power of two by which numbers up to `amax` can be multiplied before they are rounded; 1 if
/// amax is 0 or not finite. At most 2^100, so that its inverse is a float as well.
template <class Format>
CLADTORCH_HOST_DEVICE inline float float8_scale(float amax) {
  const uint32_t bits = bits_of(amax);
  if (bits == 0 || bits >= 0x7f800000u) return 1;
  const int exponent = static_cast<int>(bits >> 23) - 127;
  const bool fits = (bits & 0x7fffffu) <= 0x600000u;  // up to 1.75 2^exponent
  const int largest = Float8Format<Format>::largest_exponent - exponent - (fits ? 0 : 1);
  return float_of(static_cast<uint32_t>((largest < 100 ? largest : 100) + 127) << 23);
}

}  // namespace cladtorch::detail
