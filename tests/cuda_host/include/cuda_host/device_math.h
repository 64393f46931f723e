// Functions of arithmetic and bits that CUDA has and C++ lacks. What CUDA approximates (__expf, __fdividef,
// ...) is as exact here as the host's own functions: how far a GPU may be off is for tests on a GPU to say.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cuda_host {

template <typename To, typename From>
To bits_as(From value) {
  return std::bit_cast<To>(value);
}

template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;

}  // namespace cuda_host

// Mixed types become what the usual conversions make of them, and a number wins over a NaN, as in CUDA.
template <cuda_host::Arithmetic A, cuda_host::Arithmetic B>
constexpr auto min(A a, B b) {
  using Result = decltype(a + b);
  if constexpr (std::is_floating_point_v<Result>) {
    return std::fmin(static_cast<Result>(a), static_cast<Result>(b));
  } else {
    return static_cast<Result>(b) < static_cast<Result>(a) ? static_cast<Result>(b) : static_cast<Result>(a);
  }
}
template <cuda_host::Arithmetic A, cuda_host::Arithmetic B>
constexpr auto max(A a, B b) {
  using Result = decltype(a + b);
  if constexpr (std::is_floating_point_v<Result>) {
    return std::fmax(static_cast<Result>(a), static_cast<Result>(b));
  } else {
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(b) : static_cast<Result>(a);
  }
}

// glibc declares functions of its own by these names.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)

// From version 2.42 on glibc has these two.
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 42)
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
#endif

inline float __fdividef(float a, float b) { return a / b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

inline unsigned __float_as_uint(float x) { return cuda_host::bits_as<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return cuda_host::bits_as<float>(x); }
inline int __float_as_int(float x) { return cuda_host::bits_as<int>(x); }
inline float __int_as_float(int x) { return cuda_host::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return cuda_host::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return cuda_host::bits_as<double>(x); }

inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline int __ffsll(long long x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(x)) + 1;
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
  return reversed;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<uint64_t>(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}

// The low three bits of each half-byte of the selector name one of the eight bytes of y and x.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= (static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7)) & 0xFFu) << 8 * i;
  }
  return result;
}
