// Convolutions of ResNets: the stem, the 3 x 3 layers of four stages, the steps between stages and pointwise
// layers for images of 224 x 224, the three of ResNet-20 for 32 x 32, and a depthwise one. convolutions.py
// names them in this order and runs PyTorch's beside them.
#include "bench/ops/support.h"
#include "cladtorch/ops/convolution.h"

namespace cladtorch {
namespace {

struct Layer {
  Shape x, weight;
  ConvOptions options;
};
const Layer layers[] = {
    {{8, 3, 224, 224}, {64, 3, 7, 7}, {.stride = 2, .padding = 3}},
    {{8, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}},
    {{8, 128, 28, 28}, {128, 128, 3, 3}, {.padding = 1}},
    {{8, 256, 14, 14}, {256, 256, 3, 3}, {.padding = 1}},
    {{8, 512, 7, 7}, {512, 512, 3, 3}, {.padding = 1}},
    {{8, 64, 56, 56}, {128, 64, 3, 3}, {.stride = 2, .padding = 1}},
    {{8, 128, 28, 28}, {256, 128, 3, 3}, {.stride = 2, .padding = 1}},
    {{8, 256, 14, 14}, {512, 256, 3, 3}, {.stride = 2, .padding = 1}},
    {{8, 256, 56, 56}, {64, 256, 1, 1}, {}},
    {{8, 64, 56, 56}, {256, 64, 1, 1}, {}},
    {{8, 1024, 14, 14}, {256, 1024, 1, 1}, {}},
    {{8, 512, 7, 7}, {2048, 512, 1, 1}, {}},
    {{8, 256, 56, 56}, {512, 256, 1, 1}, {.stride = 2}},
    {{64, 16, 32, 32}, {16, 16, 3, 3}, {.padding = 1}},
    {{64, 32, 16, 16}, {32, 32, 3, 3}, {.padding = 1}},
    {{64, 64, 8, 8}, {64, 64, 3, 3}, {.padding = 1}},
    {{32, 64, 32, 32}, {64, 1, 3, 3}, {.padding = 1, .groups = 64}},
};

struct Case {
  const Layer& layer;
  Tensor x, weight, y, d_y;

  explicit Case(const benchmark::State& state)
      : layer(layers[state.range(0)]),
        x(normal(layer.x, 1)),
        weight(normal(layer.weight, 2)),
        y(conv2d(x, weight, {}, layer.options)),
        d_y(normal(y.shape(), 3)) {}

  double flops() const { return 2.0 * double(y.numel() * weight.numel() / weight.size(0)); }
  /// Operands of which one image is enough to verify.
  Tensor first(const Tensor& all) const { return all.narrow(0, 0, 1).to(DType::float64); }
};

void conv2d_forward(benchmark::State& state) {
  const Case c(state);
  verify(agrees(c.y.narrow(0, 0, 1), conv2d(c.first(c.x), c.weight.to(DType::float64), {}, c.layer.options),
                1e-5),
         "conv2d");
  time_steps(state, c.flops(), 0,
             [&] { benchmark::DoNotOptimize(conv2d(c.x, c.weight, {}, c.layer.options)); });
}

void conv2d_backward(benchmark::State& state, bool of_weight) {
  const Case c(state);
  const auto gradient = [&](const Tensor& x, const Tensor& weight, const Tensor& d_y) {
    Tensor d;
    pullbacks::conv2d_pullback(x, weight, {}, c.layer.options, d_y, of_weight ? nullptr : &d,
                               of_weight ? &d : nullptr, nullptr);
    return d;
  };
  const Tensor first = c.x.narrow(0, 0, 1), d_first = c.d_y.narrow(0, 0, 1);
  verify(agrees(gradient(first, c.weight, d_first),
                gradient(c.first(c.x), c.weight.to(DType::float64), c.first(c.d_y)), 1e-5),
         "conv2d_pullback");
  time_steps(state, c.flops(), 0, [&] { benchmark::DoNotOptimize(gradient(c.x, c.weight, c.d_y)); });
}
void conv2d_operand(benchmark::State& state) { conv2d_backward(state, false); }
void conv2d_weight(benchmark::State& state) { conv2d_backward(state, true); }

void sizes(benchmark::internal::Benchmark* b) {
  b->DenseRange(0, std::size(layers) - 1)->ArgName("layer")->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(conv2d_forward)->Apply(sizes);
BENCHMARK(conv2d_operand)->Apply(sizes);
BENCHMARK(conv2d_weight)->Apply(sizes);

}  // namespace
}  // namespace cladtorch
