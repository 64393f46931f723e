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

/// Everything that AdamW keeps, for parameters of `dtype`.
struct OptimizerCase {
  Tensor parameter, gradient = gradient_buffer_like(parameter), drawn = draw(2);
  TensorList gradients{std::vector<NamedTensor>{{"weight", gradient}}};
  AdamW optimizer{TensorList(std::vector<NamedTensor>{{"weight", parameter}}), {.lr = 1e-4}};

  /// After one step, whose first parameter is checked.
  explicit OptimizerCase(DType dtype) : parameter(draw(1).to(dtype)) {
    const Tensor master = optimizer.masters()[0].tensor;
    const double before = master.data<float>()[0], sign = drawn.data<float>()[0] > 0 ? 1 : -1;
    give_gradient();
    optimizer.step(gradients);
    const double expected = before * (1 - 1e-4 * optimizer.options().weight_decay) - 1e-4 * sign;
    verify(std::abs(master.data<float>()[0] - expected) < 1e-6, "AdamW");
  }
  void give_gradient() { gradient.copy_from(drawn); }
  static void verify(bool correct, const char* what) {
    if (correct) return;
    std::fprintf(stderr, "%s: the result is wrong, not timed\n", what);
    std::exit(1);
  }
};

void adamw(benchmark::State& state, DType dtype) {
  OptimizerCase c(dtype);
  for (auto _ : state) {
    state.PauseTiming();
    c.give_gradient();
    state.ResumeTiming();
    c.optimizer.step(c.gradients);
  }
  rate(state, (dtype == DType::bfloat16 ? 30.0 : 28.0) * count);
}

/// What adamw() reads and writes, with an addition for all arithmetic.
void adamw_traffic(benchmark::State& state, DType dtype) {
  OptimizerCase c(dtype);
  Tensor master = c.optimizer.masters()[0].tensor;
  float* const p = master.data<float>();
  uint16_t* const copy = dtype == DType::bfloat16 ? static_cast<uint16_t*>(c.parameter.data()) : nullptr;
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
      if (!copy) return;
      for (int64_t i = begin; i < end; ++i) copy[i] = static_cast<uint16_t>(i);
    });
  }
  rate(state, (copy ? 30.0 : 28.0) * count);
}

void gradient_norm(benchmark::State& state) {
  OptimizerCase c(DType::float32);
  c.give_gradient();
  c.verify(std::abs(c.gradients.norm() / std::sqrt(double(count)) - 1) < 1e-3, "norm");
  for (auto _ : state) benchmark::DoNotOptimize(c.gradients.norm());
  rate(state, 4.0 * count);
}

BENCHMARK_CAPTURE(adamw, float32, DType::float32)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(adamw_traffic, float32, DType::float32)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(adamw, bfloat16, DType::bfloat16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(adamw_traffic, bfloat16, DType::bfloat16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gradient_norm)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cladtorch

BENCHMARK_MAIN();
