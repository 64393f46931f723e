#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "cladtorch/train/peak.h"
#include "tensor/instruction_sets.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cladtorch::train {
namespace {

constexpr size_t buffer_bytes = size_t{1} << 30;  // servers have caches of hundreds of megabytes
constexpr size_t huge_page = size_t{2} << 20;
constexpr size_t step_bytes = 4096;  // every part is a multiple of it, so that no loop has a rest
constexpr int repeats = 5;

/// The arrays of the AdamW-like loop: parameters, gradients and two moments.
constexpr size_t arrays = 4;

[[gnu::always_inline]] inline uint64_t sum_body(const uint64_t* words, size_t count) {
  uint64_t lanes[64] = {};
  for (size_t i = 0; i < count; i += 64) {
    for (size_t lane = 0; lane < 64; ++lane) lanes[lane] += words[i + lane];
  }
  uint64_t sum = 0;
  for (const uint64_t lane : lanes) sum += lane;
  return sum;
}

/// Starts from ones and stays near them: numbers below the normal range would measure the processor's slow
/// path.
[[gnu::always_inline]] inline void mixed_body(float* __restrict__ p, const float* __restrict__ g,
                                              float* __restrict__ m, float* __restrict__ v, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.95f * v[i] + 0.05f * g[i];
    p[i] = p[i] - 0.001f * m[i] * v[i];
  }
}

uint64_t sum_portable(const uint64_t* words, size_t count) { return sum_body(words, count); }
void mixed_portable(float* p, const float* g, float* m, float* v, size_t count) {
  mixed_body(p, g, m, v, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) uint64_t sum_avx2(const uint64_t* words, size_t count) {
  return sum_body(words, count);
}
__attribute__((target("avx2"))) void mixed_avx2(float* p, const float* g, float* m, float* v, size_t count) {
  mixed_body(p, g, m, v, count);
}
void fill_words(std::byte* out, size_t bytes) {
  const __m128i value = _mm_castps_si128(_mm_set1_ps(1.0f));
  for (size_t i = 0; i < bytes; i += 64) {
    for (size_t j = 0; j < 64; j += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + j), value);
  }
  _mm_sfence();
}
const auto sum_words = detail::runs_avx2() ? sum_avx2 : sum_portable;
const auto mixed_words = detail::runs_avx2() ? mixed_avx2 : mixed_portable;
#else
void fill_words(std::byte* out, size_t bytes) {
  std::fill_n(reinterpret_cast<float*>(out), bytes / sizeof(float), 1.0f);
}
const auto sum_words = sum_portable;
const auto mixed_words = mixed_portable;
#endif

/// Bytes per second of `body(thread)` on all threads, when each moves `bytes_per_thread`; the best of a few.
template <class Body>
double rate(int threads, double bytes_per_thread, Body&& body) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto begin = Clock::now();
#pragma omp parallel num_threads(threads)
    body(static_cast<size_t>(omp_get_thread_num()));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, bytes_per_thread * threads / seconds);
  }
  return best;
}

}  // namespace

Bandwidth measure_bandwidth(int threads) {
  const std::unique_ptr<std::byte, decltype(&std::free)> buffer(
      static_cast<std::byte*>(std::aligned_alloc(huge_page, buffer_bytes)), &std::free);
  if (buffer == nullptr) throw std::bad_alloc();
  ::madvise(buffer.get(), buffer_bytes, MADV_HUGEPAGE);

  const auto count = static_cast<size_t>(threads);
  const size_t part = buffer_bytes / count / step_bytes * step_bytes;
  const size_t array_part = buffer_bytes / arrays / count / step_bytes * step_bytes;
  const auto array = [&](size_t which, size_t thread) {
    return reinterpret_cast<float*>(buffer.get() + which * (buffer_bytes / arrays) + thread * array_part);
  };
  std::vector<uint64_t> sums(count * 8);  // a cache line each

  Bandwidth result;
  // The first pass touches the pages; it is slower than the best and so does not count.
  result.fill = rate(threads, static_cast<double>(part),
                     [&](size_t thread) { fill_words(buffer.get() + thread * part, part); });
  result.read = rate(threads, static_cast<double>(part), [&](size_t thread) {
    sums[thread * 8] += sum_words(reinterpret_cast<const uint64_t*>(buffer.get() + thread * part), part / 8);
  });
  result.mixed = rate(threads, 7.0 * static_cast<double>(array_part), [&](size_t thread) {
    mixed_words(array(0, thread), array(1, thread), array(2, thread), array(3, thread),
                array_part / sizeof(float));
  });
  volatile uint64_t keep = sums[0];
  static_cast<void>(keep);
  return result;
}

}  // namespace cladtorch::train
