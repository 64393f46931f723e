// Box-Muller as loops without branches over small arrays, which the compiler vectorizes for each instruction
// set: drawing the 124M weights of a GPT-2 with the scalar log, sin and cos took most of a second.
#include "tensor/random_normal.h"

#include <bit>
#include <cmath>

#include "tensor/instruction_sets.h"
#include "tensor/random_words.h"

namespace cladtorch::detail {
namespace {

constexpr int lanes = philox_lanes;                      // pairs of values computed together
constexpr double round_to_integer = 6755399441055744.0;  // 1.5 * 2^52: the sum's low bits are the integer

/// In [0, 1) with 53 bits. Signed integers convert to double in vectors everywhere, unsigned ones do not.
[[gnu::always_inline]] inline double uniform(uint32_t high, uint32_t low) {
  const double top = static_cast<double>(static_cast<int32_t>(high ^ 0x80000000u)) + 0x1p31;
  return top * 0x1p-32 + static_cast<double>(static_cast<int32_t>(low >> 11)) * 0x1p-53;
}

/// log(x) for normal x > 0: x = 2^k m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s), s = (m - 1)/(m +
/// 1).
[[gnu::always_inline]] inline double log_of(double x) {
  const auto bits = std::bit_cast<int64_t>(x);
  const int64_t k = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const auto m = std::bit_cast<double>(bits - k * (int64_t{1} << 52));
  const double k_value =
      std::bit_cast<double>(k + std::bit_cast<int64_t>(round_to_integer)) - round_to_integer;
  const double s = (m - 1) / (m + 1), z = s * s;  // z < 0.03: eleven terms reach the last bit
  double sum = 1.0 / 21;
  for (const double term :
       {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3})
    sum = sum * z + term;
  return k_value * 0.6931471805599453 + (2 * s + 2 * s * (z * sum));
}

struct SinCos {
  double sin, cos;
};

/// Of 2 pi x for x in [0, 1): Taylor sums around the nearest quarter turn.
[[gnu::always_inline]] inline SinCos sincos_of_turns(double x) {
  const double shifted = 4 * x + round_to_integer;
  const int64_t quarter = std::bit_cast<int64_t>(shifted) & 3;
  const double angle = (x - 0.25 * (shifted - round_to_integer)) * 6.283185307179586, z = angle * angle;
  double sin = 1.0 / 355687428096000, cos = -1.0 / 6402373705728000;  // 17!, 18!
  for (const double term : {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                            -1.0 / 5040, 1.0 / 120, -1.0 / 6})
    sin = sin * z + term;
  for (const double term : {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
                            1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2})
    cos = cos * z + term;
  sin = angle + angle * (z * sin);
  cos = 1 + z * cos;
  const bool odd = (quarter & 1) != 0;
  const auto with_sign = [](double value, int64_t negative) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ static_cast<uint64_t>(negative) << 63);
  };
  return {with_sign(odd ? cos : sin, quarter >> 1), with_sign(odd ? sin : cos, ((quarter + 1) >> 1) & 1)};
}

template <class T>
[[gnu::always_inline]] inline void fill_body(const NormalStream& from, int64_t n, T* out) {
  uint32_t words[4 * (lanes + 1)];
  T values[2 * lanes];
  const uint64_t phase = from.first_word % 4;  // pairs need not begin where a block does
  uint64_t block = from.first_word / 4;
  for (int64_t done = 0; done < n; done += 2 * lanes, block += lanes) {
    random_words(from.seed, from.stream, block, words);
    if (phase != 0) random_words(from.seed, from.stream, block + 1, words + 4);
    const uint32_t* const w = words + phase;
    for (int i = 0; i < lanes; ++i) {
      const double u = uniform(w[4 * i], w[4 * i + 1]), v = uniform(w[4 * i + 2], w[4 * i + 3]);
      const double radius = from.deviation * std::sqrt(-2 * log_of(1 - u));
      const SinCos direction = sincos_of_turns(v);
      values[2 * i] = static_cast<T>(from.mean + radius * direction.cos);
      values[2 * i + 1] = static_cast<T>(from.mean + radius * direction.sin);
    }
    const int64_t count = n - done < 2 * lanes ? n - done : 2 * lanes;
    for (int64_t i = 0; i < count; ++i) out[done + i] = values[i];
  }
}

void float_portable(const NormalStream& from, int64_t n, float* out) { fill_body(from, n, out); }
void double_portable(const NormalStream& from, int64_t n, double* out) { fill_body(from, n, out); }

#if defined(__x86_64__)
#define CLADTORCH_AVX2 __attribute__((target("avx2")))
#define CLADTORCH_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2")))
CLADTORCH_AVX2 void float_avx2(const NormalStream& from, int64_t n, float* out) { fill_body(from, n, out); }
CLADTORCH_AVX2 void double_avx2(const NormalStream& from, int64_t n, double* out) { fill_body(from, n, out); }
CLADTORCH_AVX512 void float_avx512(const NormalStream& from, int64_t n, float* out) {
  fill_body(from, n, out);
}
CLADTORCH_AVX512 void double_avx512(const NormalStream& from, int64_t n, double* out) {
  fill_body(from, n, out);
}
#endif

}  // namespace

std::span<const NormalKernels> normal_kernels() {
  static const NormalKernels all[] = {
      {"portable", float_portable, double_portable},
#if defined(__x86_64__)
      {"avx2", float_avx2, double_avx2},
      {"avx512", float_avx512, double_avx512},
#endif
  };
  static const auto count = static_cast<size_t>(vector_sets());
  return {all, count};
}

}  // namespace cladtorch::detail
