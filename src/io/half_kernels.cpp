#include "io/half_kernels.h"

#include <bit>

#include "tensor/instruction_sets.h"

namespace cladtorch::io {
namespace {

constexpr uint32_t infinity = 0x7f800000;
constexpr uint32_t least_normal_half = 0x38800000;    // 2^-14
constexpr uint32_t beyond_largest_half = 0x47800000;  // 2^16

/// As if the half's bits were a float's, an exponent of 0 included, and then scaled by the difference of the
/// biases.
[[gnu::always_inline]] inline float widened(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t bits = magnitude >= 0x0f800000u ? magnitude | infinity : scaled;
  return std::bit_cast<float>(static_cast<uint32_t>(half & 0x8000u) << 16 | bits);
}

/// Three results are computed and one is chosen, which vectorizes.
[[gnu::always_inline]] inline uint16_t narrowed(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Rounds by carrying into the exponent, up to infinity.
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  // The sum with 0.5 has the unit 2^-24 of subnormal halves in its last place.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t special = magnitude > infinity ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
  const uint32_t finite = magnitude < least_normal_half ? subnormal : normal;
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) |
                               (magnitude >= beyond_largest_half ? special : finite));
}

[[gnu::always_inline]] inline void widen_body(int64_t n, const uint16_t* __restrict from,
                                              float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = widened(from[i]);
}
[[gnu::always_inline]] inline void narrow_body(int64_t n, const float* __restrict from,
                                               uint16_t* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = narrowed(from[i]);
}

#define CLADTORCH_HALF_KERNELS(set, target)                                                          \
  target void widen_##set(int64_t n, const uint16_t* from, float* to) { widen_body(n, from, to); }   \
  target void narrow_##set(int64_t n, const float* from, uint16_t* to) { narrow_body(n, from, to); } \
  constexpr HalfKernels set = {#set, widen_##set, narrow_##set};

CLADTORCH_HALF_KERNELS(portable, )
#if defined(__x86_64__)
CLADTORCH_HALF_KERNELS(avx2, __attribute__((target("avx2"))))
CLADTORCH_HALF_KERNELS(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2"))))
#endif

}  // namespace

std::span<const HalfKernels> half_kernels() {
  static const HalfKernels all[] = {
      portable,
#if defined(__x86_64__)
      avx2,
      avx512,
#endif
  };
  static const auto count = static_cast<size_t>(detail::vector_sets());
  return {all, count};
}

}  // namespace cladtorch::io
