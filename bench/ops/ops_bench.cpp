// Speed of single operations at the sizes of GPT-2 124M, forward and pullback, each verified before it is
// timed: time, rate, and percentage of the ceiling measured beside it. For arithmetic that is multiply-adds
// in registers ("peak"), of floats also where operands are bfloat16; for the rest a copy of as many bytes.
//
//   ops_bench --benchmark_filter=linear --benchmark_repetitions=5
#include "bench/ops/support.h"

namespace cladtorch {
namespace {

void peak(benchmark::State& state) {
  time_steps(state, multiply_add_flops(2000), 0, [] { multiply_add(2000); });
}
BENCHMARK(peak)->UseRealTime();

struct LinearCase {
  DType dtype;
  Tensor x, weight, bias, d_y;
  explicit LinearCase(const benchmark::State& state)
      : dtype(state.range(3) ? DType::bfloat16 : DType::float32),
        x(normal({state.range(0), state.range(1)}, 1).to(dtype)),
        weight(normal({state.range(2), state.range(1)}, 2).to(dtype)),
        bias(normal({state.range(2)}, 3).to(dtype)),
        d_y(normal({state.range(0), state.range(2)}, 4).to(dtype)) {}
  /// Of results in dtype.
  double tolerance() const { return dtype == DType::bfloat16 ? 0x1p-8 : 1e-5; }
  /// A few rows, for verification.
  static Tensor some(const Tensor& t) { return t.narrow(0, 0, std::min<int64_t>(2, t.size(0))); }
  double flops() const { return 2.0 * double(x.numel()) * double(weight.size(0)); }
};

void linear_forward(benchmark::State& state) {
  const LinearCase c(state);
  const Tensor expected =
      linear(c.some(c.x).to(DType::float64), c.weight.to(DType::float64), c.bias.to(DType::float64));
  verify(agrees(c.some(linear(c.x, c.weight, c.bias)), expected, c.tolerance()), "linear");
  time_steps(state, c.flops(), 0, [&] { benchmark::DoNotOptimize(linear(c.x, c.weight, c.bias)); });
}

void linear_d_x(benchmark::State& state) {
  const LinearCase c(state);
  Tensor d_x, expected;
  pullbacks::linear_pullback(c.some(c.x).to(DType::float64), c.weight.to(DType::float64), {},
                             c.some(c.d_y).to(DType::float64), &expected, nullptr, nullptr);
  pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, &d_x, nullptr, nullptr);
  verify(agrees(c.some(d_x), expected, c.tolerance()), "linear_d_x");
  time_steps(state, c.flops(), 0, [&] {
    Tensor d;
    pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, &d, nullptr, nullptr);
  });
}

void linear_d_weight(benchmark::State& state) {
  const LinearCase c(state);
  Tensor d_weight = gradient_buffer_like(c.weight);
  pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, nullptr, &d_weight, nullptr);
  const Tensor expected =
      matmul(c.d_y.narrow(1, 0, 2).transpose(0, 1).to(DType::float64), c.x.to(DType::float64));
  verify(agrees(d_weight.narrow(0, 0, 2), expected, 1e-5), "linear_d_weight");
  time_steps(state, c.flops(), 0, [&] {
    d_weight.mark_zero();
    pullbacks::linear_pullback(c.x, c.weight, c.bias, c.d_y, nullptr, &d_weight, nullptr);
  });
}

void linear_sizes(benchmark::internal::Benchmark* b) {
  for (int64_t tokens : {1, 16, 64, 256}) {
    for (int64_t bf16 : {0, 1}) {
      b->Args({tokens, 768, 768, bf16})
          ->Args({tokens, 768, 3072, bf16})
          ->Args({tokens, 3072, 768, bf16})
          ->Args({tokens, 768, 50257, bf16});
    }
  }
  b->ArgNames({"tokens", "in", "out", "bf16"})->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(linear_forward)->Apply(linear_sizes);
BENCHMARK(linear_d_x)->Apply(linear_sizes);
BENCHMARK(linear_d_weight)->Apply(linear_sizes);

/// The loss of a language model and its gradients, against three products of its size.
void linear_cross_entropy_backward(benchmark::State& state) {
  // Scores of the size that a model has: rows whose loss exceeds 30 nats would be swept twice.
  const DType dtype = state.range(1) ? DType::bfloat16 : DType::float32;
  const double tolerance = dtype == DType::bfloat16 ? 0x1p-7 : 1e-4;
  const Tensor x = scale(normal({state.range(0), 768}, 1), 0.05).to(dtype),
               weight = normal({50257, 768}, 2).to(dtype);
  Tensor targets = empty({x.size(0)}, DType::int32);
  for (int64_t i = 0; i < x.size(0); ++i) targets.data<int32_t>()[i] = static_cast<int32_t>(i * 37);
  Tensor d_weight = gradient_buffer_like(weight);
  const auto gradients = [&](const Tensor& rows, const Tensor& table, const Tensor& wanted, Tensor* d_table) {
    clad::pullback_state<LinearCrossEntropyState> s;
    Tensor d_rows;
    const Tensor y = pullbacks::linear_cross_entropy_reverse_forw(rows, table, wanted, -100, s);
    pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, ones({}, y.dtype()), &d_rows, d_table, nullptr,
                                             s);
    return d_rows;
  };
  {
    const Tensor some = LinearCase::some(x), wanted = targets.narrow(0, 0, some.size(0));
    Tensor exact;
    verify(agrees(gradients(some, weight, wanted, &d_weight),
                  gradients(some.to(DType::float64), weight.to(DType::float64), wanted, &exact), tolerance) &&
               agrees(d_weight, exact, tolerance),
           "linear_cross_entropy");
  }
  time_steps(state, 6.0 * double(x.numel()) * 50257, 0, [&] {
    d_weight.mark_zero();
    gradients(x, weight, targets, &d_weight);
  });
}
BENCHMARK(linear_cross_entropy_backward)
    ->ArgNames({"tokens", "bf16"})
    ->ArgsProduct({{16, 64, 256, 1024}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cladtorch

BENCHMARK_MAIN();
