// What the benchmarks of operations share: data, verification, and rates beside the ceiling of the moment.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"
#include "simd/kernels.h"

namespace cladtorch {

namespace pullbacks = clad::custom_derivatives::cladtorch;

inline Tensor normal(const Shape& shape, uint64_t seed) {
  Random random(seed);
  return randn(shape, random);
}

inline void verify(bool correct, const char* what) {
  if (correct) return;
  std::fprintf(stderr, "%s: the result is wrong, not timed\n", what);
  std::exit(1);
}

/// Whether a float result agrees with double arithmetic.
inline bool agrees(const Tensor& got, const Tensor& expected, double tolerance) {
  const Tensor a = got.to(DType::float64).contiguous(), b = expected.contiguous();
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    worst = std::max(worst, std::abs(a.data<double>()[i] - b.data<double>()[i]));
    largest = std::max(largest, std::abs(b.data<double>()[i]));
  }
  return worst <= tolerance * largest;
}

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of several calls.
template <class F>
double fastest(F f) {
  double best = 1e9;
  for (int i = 0; i < 20; ++i) best = std::min(best, seconds(f));
  return best;
}

/// Multiply-adds in registers, on all threads.
inline void multiply_add(int64_t repetitions) {
  const auto& kernel = simd::kernels().gemm_float;
  constexpr int64_t depth = 256;
  const int64_t columns = kernel.vectors * kernel.lanes, rows = kernel.most_rows[kernel.vectors];
  parallel_for(num_threads(), 1, [&](int64_t, int64_t) {
    alignas(64) static thread_local float a[8 * depth], b[64 * depth], c[8 * 64];
    const simd::GemmTile<float> tile{.rows = rows,
                                     .columns = columns,
                                     .depth = depth,
                                     .a = a,
                                     .a_row = 1,
                                     .a_depth = rows,
                                     .b = b,
                                     .b_depth = columns,
                                     .c = c,
                                     .c_row = columns,
                                     .ahead = a};
    for (int64_t i = 0; i < repetitions; ++i) kernel.run(tile);
    benchmark::DoNotOptimize(c[0]);
  });
}
inline double multiply_add_flops(int64_t repetitions) {
  const auto& kernel = simd::kernels().gemm_float;
  return 2.0 * double(kernel.most_rows[kernel.vectors] * kernel.vectors * kernel.lanes * 256 * repetitions *
                      num_threads());
}
inline double flops_ceiling() {
  return multiply_add_flops(100) / fastest([] { multiply_add(100); });
}

/// Bytes per second of a copy that moves as many: the ceiling of an operation that fits the same caches.
inline double bytes_ceiling(double bytes) {
  const int64_t n = std::max<int64_t>(1, static_cast<int64_t>(bytes) / 8);
  const Tensor from = zeros({n});
  Tensor to = zeros({n});
  const double seconds = fastest([&] {
    parallel_for(n, 1 << 14, [&](int64_t begin, int64_t end) {
      std::memcpy(to.data<float>() + begin, from.data<float>() + begin, sizeof(float) * size_t(end - begin));
    });
  });
  return 8.0 * double(n) / seconds;
}

/// Times f() as a step of a training run does: its tensors come from a workspace. Sets the counters for f's
/// operations or bytes (the other is 0) of the fastest step, and the percentage of what the machine reaches
/// just then: both are what others on the machine leave undisturbed.
template <class F>
void time_steps(benchmark::State& state, double flops, double bytes, F f) {
  Workspace workspace;
  for (int i = 0; i < 2; ++i) {
    const Workspace::Step step(workspace);
    f();
  }
  double best = 1e9;
  for (auto _ : state) {
    const Workspace::Step step(workspace);
    best = std::min(best, seconds(f));
  }
  const double ceiling = flops > 0 ? flops / flops_ceiling() : bytes / bytes_ceiling(bytes);
  state.counters[flops > 0 ? "GFLOP/s" : "GB/s"] = (flops > 0 ? flops : bytes) * 1e-9 / best;
  state.counters["%"] = 100 * ceiling / best;
}

}  // namespace cladtorch
