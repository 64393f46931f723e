#include "cladtorch/train/peak.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"
#include "tensor/instruction_sets.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cladtorch::train {
namespace {

constexpr int chains = 12;  // two units of four cycles latency need eight; sixteen registers hold twelve
constexpr int rounds = 20'000;

/// Runs one block of the loop and returns its operations; `sink` keeps the result alive.
using Kernel = double (*)(float* sink);

double portable(float* sink) {
  constexpr int width = 4;
  float sums[chains][width] = {};
  for (int round = 0; round < rounds; ++round) {
    for (auto& chain : sums) {
      for (float& value : chain) value = value * 0.5f + 1.0f;
    }
  }
  for (const auto& chain : sums) *sink += chain[0];
  return 2.0 * rounds * chains * width;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double avx2(float* sink) {
  __m256 sums[chains];
  for (auto& chain : sums) chain = _mm256_set1_ps(1.0f);
  const __m256 factor = _mm256_set1_ps(0.5f), addend = _mm256_set1_ps(1.0f);
  for (int round = 0; round < rounds; ++round) {
    for (auto& chain : sums) chain = _mm256_fmadd_ps(chain, factor, addend);
  }
  for (const auto& chain : sums) *sink += _mm256_cvtss_f32(chain);
  return 2.0 * rounds * chains * 8;
}

__attribute__((target("avx512f"))) double avx512(float* sink) {
  __m512 sums[chains];
  for (auto& chain : sums) chain = _mm512_set1_ps(1.0f);
  const __m512 factor = _mm512_set1_ps(0.5f), addend = _mm512_set1_ps(1.0f);
  for (int round = 0; round < rounds; ++round) {
    for (auto& chain : sums) chain = _mm512_fmadd_ps(chain, factor, addend);
  }
  for (const auto& chain : sums) *sink += _mm512_cvtss_f32(chain);
  return 2.0 * rounds * chains * 16;
}

__attribute__((target("avx512f,avx512bf16"))) double avx512_bf16(float* sink) {
  __m512 sums[chains];
  for (auto& chain : sums) chain = _mm512_set1_ps(0.0f);
  const __m512bh ones = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1.0f), _mm512_set1_ps(1.0f));
  for (int round = 0; round < rounds; ++round) {
    for (auto& chain : sums) chain = _mm512_dpbf16_ps(chain, ones, ones);
  }
  for (const auto& chain : sums) *sink += _mm512_cvtss_f32(chain);
  return 4.0 * rounds * chains * 16;
}
#endif

Kernel widest() {
#if defined(__x86_64__)
  if (detail::runs_avx512()) return avx512;
  if (detail::runs_avx2()) return avx2;
#endif
  return portable;
}

double measure(Kernel kernel, int threads) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  // The best of five: other programs and clock ramps only slow it down.
  for (int repeat = 0; repeat < 5; ++repeat) {
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

}  // namespace

double measure_peak_flops(int threads) { return measure(widest(), threads); }

double measure_peak_bf16_flops(int threads) {
#if defined(__x86_64__)
  if (detail::runs_avx512() && __builtin_cpu_supports("avx512bf16")) return measure(avx512_bf16, threads);
#endif
  static_cast<void>(threads);
  return 0;
}

double measure_peak_flops(int threads, DType dtype) {
  const double plain = measure_peak_flops(threads);
  return dtype == DType::bfloat16 ? std::max(plain, measure_peak_bf16_flops(threads)) : plain;
}

double measure_peak_flops(Device device, DType dtype) {
  using Clock = std::chrono::steady_clock;
  int64_t n = 4096;  // less where memory is short
  while (n > 256 && 4 * static_cast<size_t>(n * n) * size_of(dtype) > device_capacity(device).free) n /= 2;
  constexpr double enough = 0.2;
  const Tensor a = ones({n, n}, dtype, device), b = ones({n, n}, dtype, device);
  Workspace workspace;
  const auto seconds_of = [&](int count) {
    synchronize(device);
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      const Workspace::Step step(workspace);
      matmul(a, b);
    }
    synchronize(device);
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  seconds_of(2);  // chooses an algorithm, plans the memory
  int count = 1;
  double seconds = seconds_of(count);
  while (seconds < enough) {
    count *= 2;
    seconds = seconds_of(count);
  }
  return 2.0 * std::pow(static_cast<double>(n), 3) * count / seconds;
}

}  // namespace cladtorch::train
