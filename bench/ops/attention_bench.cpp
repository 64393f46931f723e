// Causal attention at GPT-2's twelve heads of 64 channels.
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

void attention_sizes(benchmark::internal::Benchmark* b) {
  b->Args({1, 16})->Args({1, 64})->Args({4, 64})->Args({4, 256})->Args({1, 1024});
  b->ArgNames({"B", "T"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(causal_attention_forward)->Apply(attention_sizes);
BENCHMARK(causal_attention_backward)->Apply(attention_sizes);

}  // namespace
}  // namespace cladtorch
