// Speed of the passes over all parameters of GPT-2 124M. Beside each stands what its traffic alone costs.
//
//   optimizer_bench --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/adamw.h"

namespace cladtorch {
namespace {

constexpr int64_t count = 124'439'808;
constexpr int64_t piece = 1 << 19;

Tensor draw(uint64_t seed) {
  Random random(seed);
  return randn({count / 768, 768}, random);
}

void rate(benchmark::State& state, double bytes) {
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// Everything that AdamW keeps.
struct OptimizerCase {
  Tensor parameter = draw(1), gradient = gradient_buffer_like(parameter), drawn = draw(2);
  TensorList gradients{std::vector<NamedTensor>{{"weight", gradient}}};
  AdamW optimizer{TensorList(std::vector<NamedTensor>{{"weight", parameter}}), {.lr = 1e-4}};

  /// After one step, whose first parameter is checked.
  OptimizerCase() {
    const double before = parameter.data<float>()[0], sign = drawn.data<float>()[0] > 0 ? 1 : -1;
    give_gradient();
    optimizer.step(gradients);
    const double expected = before * (1 - 1e-4 * optimizer.options().weight_decay) - 1e-4 * sign;
    verify(std::abs(parameter.data<float>()[0] - expected) < 1e-6, "AdamW");
  }
  void give_gradient() { gradient.copy_from(drawn); }
  static void verify(bool correct, const char* what) {
    if (correct) return;
    std::fprintf(stderr, "%s: the result is wrong, not timed\n", what);
    std::exit(1);
  }
};

void adamw(benchmark::State& state) {
  OptimizerCase c;
  for (auto _ : state) {
    state.PauseTiming();
    c.give_gradient();
    state.ResumeTiming();
    c.optimizer.step(c.gradients);
  }
  rate(state, 28.0 * count);
}

/// What adamw() reads and writes, with an addition for all arithmetic.
void adamw_traffic(benchmark::State& state) {
  OptimizerCase c;
  float* const p = c.parameter.data<float>();
  const float* const g = c.drawn.data<float>();
  float* const m = c.optimizer.first_moments()[0].tensor.data<float>();
  float* const v = c.optimizer.second_moments()[0].tensor.data<float>();
  for (auto _ : state) {
    parallel_for(count, piece, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        m[i] += g[i];
        v[i] += g[i];
        p[i] += g[i];
      }
    });
  }
  rate(state, 28.0 * count);
}

void gradient_norm(benchmark::State& state) {
  OptimizerCase c;
  c.give_gradient();
  c.verify(std::abs(c.gradients.norm() / std::sqrt(double(count)) - 1) < 1e-3, "norm");
  for (auto _ : state) benchmark::DoNotOptimize(c.gradients.norm());
  rate(state, 4.0 * count);
}

BENCHMARK(adamw)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(adamw_traffic)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gradient_norm)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cladtorch

BENCHMARK_MAIN();
