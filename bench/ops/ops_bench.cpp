// Speed of single operations at the sizes of GPT-2 124M, forward and pullback, each verified before it is
// timed. "peak" measures multiply-adds in registers: the ceiling to compare GFLOP/s with.
//
//   ops_bench --benchmark_filter=linear --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;

Tensor normal(const Shape& shape, uint64_t seed) {
  Random random(seed);
  return randn(shape, random);
}

void verify(bool correct, const char* what) {
  if (correct) return;
  std::fprintf(stderr, "%s: the result is wrong, not timed\n", what);
  std::exit(1);
}

/// Whether row `row` of the float result agrees with double arithmetic.
bool agrees(const Tensor& got, const Tensor& expected, double tolerance) {
  const Tensor a = got.to(DType::float64).contiguous(), b = expected.contiguous();
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    worst = std::max(worst, std::abs(a.data<double>()[i] - b.data<double>()[i]));
    largest = std::max(largest, std::abs(b.data<double>()[i]));
  }
  return worst <= tolerance * largest;
}

void rate(benchmark::State& state, double flops, double bytes) {
  const auto per_second = [](double amount) {
    return benchmark::Counter(amount * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  };
  if (flops > 0) state.counters["GFLOP/s"] = per_second(flops);
  if (bytes > 0) state.counters["GB/s"] = per_second(bytes);
}

void peak(benchmark::State& state) {
  const auto& kernel = simd::kernels().gemm_float;
  constexpr int64_t depth = 256, repetitions = 2000;
  const int64_t columns = kernel.vectors * kernel.lanes, rows = kernel.most_rows[kernel.vectors];
  const double flops = 2.0 * double(rows * columns * depth * repetitions * num_threads());
  for (auto _ : state) {
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
  rate(state, flops, 0);
}
BENCHMARK(peak)->UseRealTime();

struct LinearCase {
  Tensor x, weight, bias, d_y;
  explicit LinearCase(const benchmark::State& state)
      : x(normal({state.range(0), state.range(1)}, 1)),
        weight(normal({state.range(2), state.range(1)}, 2)),
        bias(normal({state.range(2)}, 3)),
        d_y(normal({state.range(0), state.range(2)}, 4)) {}
  /// A few rows, for verification.
  static Tensor some(const Tensor& t) { return t.narrow(0, 0, std::min<int64_t>(2, t.size(0))); }
  double flops() const { return 2.0 * double(x.numel()) * double(weight.size(0)); }
};

void linear_forward(benchmark::State& state) {
  const LinearCase c(state);
  const Tensor expected =
      linear(c.some(c.x).to(DType::float64), c.weight.to(DType::float64), c.bias.to(DType::float64));
  verify(agrees(c.some(linear(c.x, c.weight, c.bias)), expected, 1e-5), "linear");
  for (auto _ : state) benchmark::DoNotOptimize(linear(c.x, c.weight, c.bias));
  rate(state, c.flops(), 0);
}

void linear_d_x(benchmark::State& state) {
  const LinearCase c(state);
  Tensor d_x, expected;
  pullbacks::linear_pullback(c.some(c.x).to(DType::float64), c.weight.to(DType::float64), {},
                             c.some(c.d_y).to(DType::float64), &expected, nullptr, nullptr);
  pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, &d_x, nullptr, nullptr);
  verify(agrees(c.some(d_x), expected, 1e-5), "linear_d_x");
  for (auto _ : state) {
    d_x = Tensor();
    pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, &d_x, nullptr, nullptr);
  }
  rate(state, c.flops(), 0);
}

void linear_d_weight(benchmark::State& state) {
  const LinearCase c(state);
  Tensor d_weight = gradient_buffer_like(c.weight);
  pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, nullptr, &d_weight, nullptr);
  const Tensor expected =
      matmul(c.d_y.narrow(1, 0, 2).transpose(0, 1).to(DType::float64), c.x.to(DType::float64));
  verify(agrees(d_weight.narrow(0, 0, 2), expected, 1e-5), "linear_d_weight");
  for (auto _ : state) {
    d_weight.mark_zero();
    pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, nullptr, &d_weight, nullptr);
  }
  rate(state, c.flops(), 0);
}

void linear_sizes(benchmark::internal::Benchmark* b) {
  for (int64_t tokens : {1, 16, 64, 256}) {
    b->Args({tokens, 768, 768})
        ->Args({tokens, 768, 3072})
        ->Args({tokens, 3072, 768})
        ->Args({tokens, 768, 50257});
  }
  b->ArgNames({"tokens", "in", "out"})->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(linear_forward)->Apply(linear_sizes);
BENCHMARK(linear_d_x)->Apply(linear_sizes);
BENCHMARK(linear_d_weight)->Apply(linear_sizes);

/// The loss of a language model and its gradients, against three products of its size.
void linear_cross_entropy_backward(benchmark::State& state) {
  const Tensor x = normal({state.range(0), 768}, 1), weight = normal({50257, 768}, 2);
  Tensor targets = empty({x.size(0)}, DType::int32);
  for (int64_t i = 0; i < x.size(0); ++i) targets.data<int32_t>()[i] = static_cast<int32_t>(i * 37);
  Tensor d_weight = gradient_buffer_like(weight);
  const auto gradients = [&](const Tensor& rows, const Tensor& table, const Tensor& wanted, Tensor* d_table) {
    clad::pullback_state<LinearCrossEntropyState> s;
    Tensor d_rows;
    const Tensor y = pullbacks::linear_cross_entropy_reverse_forw(rows, table, wanted, -100, s);
    pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, ones({}, rows.dtype()), &d_rows, d_table,
                                             nullptr, s);
    return d_rows;
  };
  {
    const Tensor some = scale(LinearCase::some(x), 0.05), wanted = targets.narrow(0, 0, some.size(0));
    Tensor exact;
    verify(agrees(gradients(some, weight, wanted, &d_weight),
                  gradients(some.to(DType::float64), weight.to(DType::float64), wanted, &exact), 1e-4) &&
               agrees(d_weight, exact, 1e-4),
           "linear_cross_entropy");
  }
  Workspace workspace;
  for (auto _ : state) {
    const Workspace::Step step(workspace);
    d_weight.mark_zero();
    gradients(x, weight, targets, &d_weight);
  }
  rate(state, 6.0 * double(x.numel()) * 50257, 0);
}
BENCHMARK(linear_cross_entropy_backward)
    ->ArgName("tokens")
    ->Arg(16)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A pointwise or row operation f on x with `tensors` passes over memory.
template <class F>
void memory_bound(benchmark::State& state, const Tensor& x, double tensors, F f) {
  verify(agrees(f(x), f(x.to(DType::float64)), 1e-5), "operation");
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
  rate(state, 0, tensors * double(x.nbytes()));
}

void add_forward(benchmark::State& state) {
  memory_bound(state, normal({256, 768}, 1), 3, [](const Tensor& x) { return x + x; });
}
void gelu_tanh_forward(benchmark::State& state) {
  memory_bound(state, normal({256, 3072}, 1), 2, [](const Tensor& x) { return gelu_tanh(x); });
}
void softmax_forward(benchmark::State& state) {
  memory_bound(state, normal({256, 768}, 1), 2, [](const Tensor& x) { return softmax(x); });
}
void layer_norm_forward(benchmark::State& state) {
  memory_bound(state, normal({256, 768}, 1), 2, [](const Tensor& x) {
    return layer_norm(x, ones({768}, x.dtype()), zeros({768}, x.dtype()));
  });
}
void cross_entropy_forward(benchmark::State& state) {
  const Tensor targets = arange(256);
  memory_bound(state, normal({256, 50257}, 1), 1, [&](const Tensor& x) { return cross_entropy(x, targets); });
}
BENCHMARK(add_forward)->UseRealTime();
BENCHMARK(gelu_tanh_forward)->UseRealTime();
BENCHMARK(softmax_forward)->UseRealTime();
BENCHMARK(layer_norm_forward)->UseRealTime();
BENCHMARK(cross_entropy_forward)->UseRealTime()->Unit(benchmark::kMillisecond);

void gelu_tanh_backward(benchmark::State& state) {
  const Tensor d_y = normal({256, 3072}, 2);
  memory_bound(state, normal({256, 3072}, 1), 3, [&](const Tensor& x) {
    Tensor d_x;
    pullbacks::gelu_tanh_pullback(x, d_y.to(x.dtype()), &d_x);
    return d_x;
  });
}
void layer_norm_backward(benchmark::State& state) {
  const Tensor d_y = normal({256, 768}, 2);
  memory_bound(state, normal({256, 768}, 1), 3, [&](const Tensor& x) {
    Tensor d_x, d_weight, d_bias;
    clad::pullback_state<LayerNormState> s;
    const Tensor weight = ones({768}, x.dtype()), bias = zeros({768}, x.dtype());
    pullbacks::layer_norm_reverse_forw(x, weight, bias, 1e-5, s);
    pullbacks::layer_norm_pullback(x, weight, bias, 1e-5, d_y.to(x.dtype()), &d_x, &d_weight, &d_bias,
                                   nullptr, s);
    return d_x;
  });
}
BENCHMARK(gelu_tanh_backward)->UseRealTime();
BENCHMARK(layer_norm_backward)->UseRealTime();

/// Multiply-adds of the visible half of the scores; the pullback does five products where the forward does
/// two.
double attention_flops(int64_t batch, int64_t length, double products) {
  return products * double(batch * length * (length + 1)) * 768;
}

void causal_attention_forward(benchmark::State& state) {
  const int64_t batch = state.range(0), length = state.range(1);
  const Tensor qkv = normal({batch, length, 3 * 768}, 1);
  const Tensor one = qkv.narrow(0, 0, 1);
  verify(agrees(causal_attention(one, 12), causal_attention(one.to(DType::float64), 12), 1e-5),
         "causal_attention");
  for (auto _ : state) benchmark::DoNotOptimize(causal_attention(qkv, 12));
  rate(state, attention_flops(batch, length, 2), 0);
}

void causal_attention_backward(benchmark::State& state) {
  const int64_t batch = state.range(0), length = state.range(1);
  const auto gradient = [](const Tensor& qkv, const Tensor& d_y, auto& s) {
    Tensor d_qkv;
    pullbacks::causal_attention_pullback(qkv, 12, d_y, &d_qkv, s);
    return d_qkv;
  };
  const Tensor qkv = normal({batch, length, 3 * 768}, 1), d_y = normal({batch, length, 768}, 2);
  clad::pullback_state<AttentionState> s, exact;
  const Tensor one = qkv.narrow(0, 0, 1).to(DType::float64);
  pullbacks::causal_attention_reverse_forw(one, 12, exact);
  pullbacks::causal_attention_reverse_forw(qkv, 12, s);
  verify(agrees(gradient(qkv, d_y, s).narrow(0, 0, 1),
                gradient(one, d_y.narrow(0, 0, 1).to(DType::float64), exact), 1e-4),
         "causal_attention_pullback");
  for (auto _ : state) benchmark::DoNotOptimize(gradient(qkv, d_y, s));
  rate(state, attention_flops(batch, length, 5), 0);
}
BENCHMARK(causal_attention_forward)->Args({4, 64})->Args({4, 256})->Args({1, 1024})->UseRealTime();
BENCHMARK(causal_attention_backward)->Args({4, 64})->Args({4, 256})->Args({1, 1024})->UseRealTime();

}  // namespace
}  // namespace cladtorch

BENCHMARK_MAIN();
