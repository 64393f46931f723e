// Operations that move memory: along rows and element by element.
#include "bench/ops/support.h"

namespace cladtorch {
namespace {

/// An operation f on x that reads and writes `tensors` times the bytes of x.
template <class F>
void memory_bound(benchmark::State& state, int64_t columns, double tensors, F f) {
  const Tensor x = normal({state.range(0), columns}, 1);
  verify(agrees(f(x), f(x.to(DType::float64)), 1e-5), "operation");
  time_steps(state, 0, tensors * double(x.nbytes()), [&] { benchmark::DoNotOptimize(f(x)); });
}

/// The same for a pullback f(x, d_y); the gradient that it returns is verified.
template <class F>
void memory_bound_pullback(benchmark::State& state, int64_t columns, double tensors, F f) {
  const Tensor x = normal({state.range(0), columns}, 1), d_y = normal(x.shape(), 2);
  verify(agrees(f(x, d_y), f(x.to(DType::float64), d_y.to(DType::float64)), 1e-5), "pullback");
  time_steps(state, 0, tensors * double(x.nbytes()), [&] { benchmark::DoNotOptimize(f(x, d_y)); });
}

void add_forward(benchmark::State& state) {
  memory_bound(state, 768, 2, [](const Tensor& x) { return x + x; });
}
void sum_forward(benchmark::State& state) {
  memory_bound(state, 768, 1, [](const Tensor& x) { return sum(x); });
}
void gelu_tanh_forward(benchmark::State& state) {
  memory_bound(state, 3072, 2, [](const Tensor& x) { return gelu_tanh(x); });
}
void gelu_tanh_backward(benchmark::State& state) {
  memory_bound_pullback(state, 3072, 3, [](const Tensor& x, const Tensor& d_y) {
    Tensor d_x;
    pullbacks::pointwise_pullback(functions::GeluTanh{}, x, d_y, &d_x);
    return d_x;
  });
}
void gelu_erf_forward(benchmark::State& state) {
  memory_bound(state, 3072, 2, [](const Tensor& x) { return gelu_erf(x); });
}
void gelu_erf_backward(benchmark::State& state) {
  memory_bound_pullback(state, 3072, 3, [](const Tensor& x, const Tensor& d_y) {
    Tensor d_x;
    pullbacks::pointwise_pullback(functions::GeluErf{}, x, d_y, &d_x);
    return d_x;
  });
}
void softmax_forward(benchmark::State& state) {
  memory_bound(state, 768, 2, [](const Tensor& x) { return softmax(x); });
}
void softmax_backward(benchmark::State& state) {
  memory_bound_pullback(state, 768, 3, [](const Tensor& y, const Tensor& d_y) {
    Tensor d_x;
    clad::pullback_state<OutputState> s;
    s.data.y = y;
    pullbacks::softmax_pullback({}, d_y, &d_x, s);
    return d_x;
  });
}
void layer_norm_forward(benchmark::State& state) {
  const Tensor weight = normal({768}, 3), bias = normal({768}, 4);
  memory_bound(state, 768, 2,
               [&](const Tensor& x) { return layer_norm(x, weight.to(x.dtype()), bias.to(x.dtype())); });
}
void layer_norm_backward(benchmark::State& state) {
  const Tensor weight = normal({768}, 3), bias = normal({768}, 4);
  clad::pullback_state<LayerNormState> s;
  memory_bound_pullback(state, 768, 3, [&](const Tensor& x, const Tensor& d_y) {
    const Tensor w = weight.to(x.dtype()), b = bias.to(x.dtype());
    // The statistics are kept between calls: the forward is not timed.
    if (!s.data.mean.defined() || s.data.mean.dtype() != x.dtype())
      pullbacks::layer_norm_reverse_forw(x, w, b, 1e-5, s);
    Tensor d_x, d_weight, d_bias;
    pullbacks::layer_norm_pullback(x, w, b, 1e-5, d_y, &d_x, &d_weight, &d_bias, nullptr, s);
    return d_x;
  });
}
void rms_norm_forward(benchmark::State& state) {
  const Tensor weight = normal({768}, 3);
  memory_bound(state, 768, 2, [&](const Tensor& x) { return rms_norm(x, weight.to(x.dtype())); });
}
void rms_norm_backward(benchmark::State& state) {
  const Tensor weight = normal({768}, 3);
  clad::pullback_state<RMSNormState> s;
  memory_bound_pullback(state, 768, 3, [&](const Tensor& x, const Tensor& d_y) {
    const Tensor w = weight.to(x.dtype());
    // The statistics are kept between calls: the forward is not timed.
    if (!s.data.rstd.defined() || s.data.rstd.dtype() != x.dtype())
      pullbacks::rms_norm_reverse_forw(x, w, 1e-6, s);
    Tensor d_x, d_weight;
    pullbacks::rms_norm_pullback(x, w, 1e-6, d_y, &d_x, &d_weight, nullptr, s);
    return d_x;
  });
}
void silu_forward(benchmark::State& state) {
  memory_bound(state, 3072, 2, [](const Tensor& x) { return silu(x); });
}
void swiglu_forward(benchmark::State& state) {
  const Tensor up = normal({state.range(0), 2048}, 3);
  memory_bound(state, 2048, 3, [&](const Tensor& x) { return swiglu(x, up.to(x.dtype())); });
}
void swiglu_backward(benchmark::State& state) {
  const Tensor up = normal({state.range(0), 2048}, 3);
  memory_bound_pullback(state, 2048, 5, [&](const Tensor& x, const Tensor& d_y) {
    Tensor d_gate, d_up;
    pullbacks::swiglu_pullback(x, up.to(x.dtype()), d_y, &d_gate, &d_up);
    return d_gate;
  });
}
void rotary_embedding_forward(benchmark::State& state) {
  const Tensor table = rotary_table(RotaryFrequencies({}, 64), 0, state.range(0));
  memory_bound(state, 768, 2, [&](const Tensor& x) { return rotary_embedding(x.unsqueeze(0), table); });
}
void tanh_forward(benchmark::State& state) {
  memory_bound(state, 768, 2, [](const Tensor& x) { return tanh(x); });
}
void sigmoid_forward(benchmark::State& state) {
  memory_bound(state, 768, 2, [](const Tensor& x) { return sigmoid(x); });
}
void dropout_forward(benchmark::State& state) {
  memory_bound(state, 768, 2, [](const Tensor& x) {
    const TrainingScope scope(1, 1);
    return dropout(x, 0.1);
  });
}

/// Tokens spread over the table as words are: any order, some repeated.
Tensor some_tokens(int64_t count) {
  Tensor indices = Tensor::empty({count}, DType::int32);
  for (int64_t i = 0; i < count; ++i) indices.data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % 5000);
  return indices;
}
void embedding_forward(benchmark::State& state) {
  const Tensor indices = some_tokens(state.range(0)), table = normal({5000, 768}, 1);
  verify(agrees(embedding(indices, table), embedding(indices, table.to(DType::float64)), 0), "embedding");
  time_steps(state, 0, 2 * 768 * 4 * double(indices.numel()),
             [&] { benchmark::DoNotOptimize(embedding(indices, table)); });
}
void embedding_backward(benchmark::State& state) {
  const Tensor indices = some_tokens(state.range(0)), d_y = normal({state.range(0), 768}, 2);
  const auto add = [&](DType dtype, Tensor* d_table) {
    clad::pullback_state<EmbeddingState> s;
    s.data = {{5000, 768}, dtype};
    pullbacks::embedding_pullback(indices, {}, d_y.to(dtype), nullptr, d_table, s);
  };
  Tensor d_table, exact;
  add(DType::float32, &d_table);
  add(DType::float64, &exact);
  verify(agrees(d_table, exact, 1e-6), "embedding_pullback");
  time_steps(state, 0, 3 * 768 * 4 * double(indices.numel()), [&] { add(DType::float32, &d_table); });
}

void cross_entropy_forward(benchmark::State& state) {
  const Tensor targets = arange(state.range(0));
  memory_bound(state, 50257, 1, [&](const Tensor& x) { return cross_entropy(x, targets); });
}

void row_counts(benchmark::internal::Benchmark* b) {
  b->Arg(16)->Arg(256)->Arg(4096)->ArgName("rows")->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(add_forward)->Apply(row_counts);
BENCHMARK(sum_forward)->Apply(row_counts);
BENCHMARK(gelu_tanh_forward)->Apply(row_counts);
BENCHMARK(gelu_tanh_backward)->Apply(row_counts);
BENCHMARK(gelu_erf_forward)->Apply(row_counts);
BENCHMARK(gelu_erf_backward)->Apply(row_counts);
BENCHMARK(softmax_forward)->Apply(row_counts);
BENCHMARK(softmax_backward)->Apply(row_counts);
BENCHMARK(layer_norm_forward)->Apply(row_counts);
BENCHMARK(layer_norm_backward)->Apply(row_counts);
BENCHMARK(rms_norm_forward)->Apply(row_counts);
BENCHMARK(rms_norm_backward)->Apply(row_counts);
BENCHMARK(silu_forward)->Apply(row_counts);
BENCHMARK(swiglu_forward)->Apply(row_counts);
BENCHMARK(swiglu_backward)->Apply(row_counts);
BENCHMARK(rotary_embedding_forward)->Apply(row_counts);
BENCHMARK(tanh_forward)->Apply(row_counts);
BENCHMARK(sigmoid_forward)->Apply(row_counts);
BENCHMARK(dropout_forward)->Apply(row_counts);
BENCHMARK(embedding_forward)->Apply(row_counts);
BENCHMARK(embedding_backward)->Apply(row_counts);
BENCHMARK(cross_entropy_forward)->Arg(256)->ArgName("rows")->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cladtorch
