// Causal attention at GPT-2's twelve heads of 64 channels, and with four heads of keys and a window.
#include "bench/ops/support.h"

namespace cladtorch {
namespace {

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
  time_steps(state, attention_flops(batch, length, 2), 0,
             [&] { benchmark::DoNotOptimize(causal_attention(qkv, 12)); });
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
  time_steps(state, attention_flops(batch, length, 5), 0,
             [&] { benchmark::DoNotOptimize(gradient(qkv, d_y, s)); });
}

/// Query-key pairs that a window leaves.
double windowed_flops(int64_t length, int64_t window, double products) {
  const double hidden = window ? double(length - std::min(length, window)) : 0;
  return products * (double(length) * double(length + 1) - hidden * (hidden + 1)) * 768;
}

void grouped_attention_forward(benchmark::State& state) {
  const int64_t length = state.range(0), window = state.range(1);
  const Tensor q = normal({1, length, 768}, 1), k = normal({1, length, 256}, 2), v = normal(k.shape(), 3);
  verify(
      agrees(causal_attention(q, k, v, 12, window),
             causal_attention(q.to(DType::float64), k.to(DType::float64), v.to(DType::float64), 12, window),
             1e-5),
      "causal_attention");
  time_steps(state, windowed_flops(length, window, 2), 0,
             [&] { benchmark::DoNotOptimize(causal_attention(q, k, v, 12, window)); });
}

void grouped_attention_backward(benchmark::State& state) {
  const int64_t length = state.range(0), window = state.range(1);
  const Tensor q = normal({1, length, 768}, 1), k = normal({1, length, 256}, 2), v = normal(k.shape(), 3),
               d_y = normal(q.shape(), 4);
  clad::pullback_state<AttentionState> s;
  pullbacks::causal_attention_reverse_forw(q, k, v, 12, window, s);
  const auto gradient = [&] {
    Tensor d_q, d_k, d_v;
    pullbacks::causal_attention_pullback(q, k, v, 12, window, d_y, &d_q, &d_k, &d_v, s);
    return d_k;
  };
  {
    const Tensor a = q.to(DType::float64), b = k.to(DType::float64), c = v.to(DType::float64);
    clad::pullback_state<AttentionState> exact;
    Tensor d_k;
    pullbacks::causal_attention_reverse_forw(a, b, c, 12, window, exact);
    pullbacks::causal_attention_pullback(a, b, c, 12, window, d_y.to(DType::float64), nullptr, &d_k, nullptr,
                                         exact);
    verify(agrees(gradient(), d_k, 1e-4), "causal_attention_pullback");
  }
  time_steps(state, windowed_flops(length, window, 5), 0, [&] { benchmark::DoNotOptimize(gradient()); });
}

void grouped_sizes(benchmark::internal::Benchmark* b) {
  b->Args({256, 0})->Args({1024, 0})->Args({1024, 256});
  b->ArgNames({"T", "window"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(grouped_attention_forward)->Apply(grouped_sizes);
BENCHMARK(grouped_attention_backward)->Apply(grouped_sizes);

void attention_sizes(benchmark::internal::Benchmark* b) {
  b->Args({1, 16})->Args({1, 64})->Args({4, 64})->Args({4, 256})->Args({1, 1024});
  b->ArgNames({"B", "T"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(causal_attention_forward)->Apply(attention_sizes);
BENCHMARK(causal_attention_backward)->Apply(attention_sizes);

}  // namespace
}  // namespace cladtorch
