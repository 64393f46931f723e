#include "cladtorch/train/peak.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cladtorch::train {
namespace {

constexpr int kChains =
    12;  // two units of four cycles latency need eight chains; sixteen registers hold twelve
constexpr int kRounds = 20'000;

/// Runs one block of the loop and returns its operations; `sink` keeps the result alive.
using Kernel = double (*)(float* sink);

double portable(float* sink) {
  constexpr int kWidth = 4;
  float sums[kChains][kWidth] = {};
  for (int round = 0; round < kRounds; ++round) {
    for (auto& chain : sums) {
      for (float& value : chain) value = value * 0.5f + 1.0f;
    }
  }
  for (const auto& chain : sums) *sink += chain[0];
  return 2.0 * kRounds * kChains * kWidth;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double avx2(float* sink) {
  __m256 sums[kChains];
  for (auto& chain : sums) chain = _mm256_set1_ps(1.0f);
  const __m256 factor = _mm256_set1_ps(0.5f), addend = _mm256_set1_ps(1.0f);
  for (int round = 0; round < kRounds; ++round) {
    for (auto& chain : sums) chain = _mm256_fmadd_ps(chain, factor, addend);
  }
  for (const auto& chain : sums) *sink += _mm256_cvtss_f32(chain);
  return 2.0 * kRounds * kChains * 8;
}

__attribute__((target("avx512f"))) double avx512(float* sink) {
  __m512 sums[kChains];
  for (auto& chain : sums) chain = _mm512_set1_ps(1.0f);
  const __m512 factor = _mm512_set1_ps(0.5f), addend = _mm512_set1_ps(1.0f);
  for (int round = 0; round < kRounds; ++round) {
    for (auto& chain : sums) chain = _mm512_fmadd_ps(chain, factor, addend);
  }
  for (const auto& chain : sums) *sink += _mm512_cvtss_f32(chain);
  return 2.0 * kRounds * kChains * 16;
}
#endif

Kernel widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#endif
  return portable;
}

}  // namespace

double measure_peak_flops(int threads) {
  using Clock = std::chrono::steady_clock;
  const Kernel kernel = widest();
  double best = 0;
  for (int repeat = 0; repeat < 5;
       ++repeat) {  // the best of five: other programs and clock ramps only slow it down
    double operations = 0;
    float total = 0;
    const auto begin = Clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : operations, total)
    for (const auto until = begin + std::chrono::milliseconds(10); Clock::now() < until;)
      operations += kernel(&total);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    volatile float keep = total;
    static_cast<void>(keep);
    best = std::max(best, operations / seconds);
  }
  return best;
}

}  // namespace cladtorch::train
