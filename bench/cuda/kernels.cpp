#include "bench/cuda/kernels.h"

#include <memory>
#include <tuple>
#include <utility>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/train/adamw.h"
#include "ops/float8/float8_on_device.h"

namespace cladtorch::bench {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Timed = std::function<Tensors()>;

constexpr int64_t rows = 1 << 16;  ///< enough that nothing stays in the cache from one run to the next
constexpr int64_t check_rows = 48;
constexpr int64_t vocabulary = 50257;
constexpr double bf16_bytes = 2;

/// Numbers of words or tokens, in sequences of 16.
Operand ids(int64_t count, int64_t below) { return {.shape = {count / 16, 16}, .below = below}; }

/// `count` matrices [rows, n].
auto matrices(int count, int64_t n) {
  return [=](int64_t rows) { return Operands(static_cast<size_t>(count), Operand{{rows, n}}); };
}

/// The same, and then vectors [n].
auto matrices_and_vectors(int count, int vectors, int64_t n) {
  return [=](int64_t rows) {
    Operands all = matrices(count, n)(rows);
    all.resize(all.size() + static_cast<size_t>(vectors), Operand{{n}});
    return all;
  };
}

Kernel of_rows(std::string name, std::function<Operands(int64_t)> operands,
               std::function<Timed(const Tensors&)> prepare) {
  return {std::move(name), std::move(operands), std::move(prepare), rows, check_rows};
}

void add_norms(std::vector<Kernel>& list, int64_t n) {
  list.push_back(of_rows("layer_norm", matrices_and_vectors(1, 2, n), [](const Tensors& x) {
    return [=] { return Tensors{layer_norm(x[0], x[1], x[2])}; };
  }));
  list.push_back(of_rows("layer_norm backward", matrices_and_vectors(2, 2, n), [](const Tensors& x) {
    const auto state = std::make_shared<clad::pullback_state<LayerNormState>>();
    pullbacks::layer_norm_reverse_forw(x[0], x[2], x[3], 1e-5, *state);
    return [=] {
      Tensors d(3);
      pullbacks::layer_norm_pullback(x[0], x[2], x[3], 1e-5, x[1], &d[0], &d[1], &d[2], nullptr, *state);
      return d;
    };
  }));
  list.push_back(of_rows("add_layer_norm", matrices_and_vectors(2, 2, n), [](const Tensors& x) {
    return [=] {
      clad::pullback_state<AddLayerNormState> state;
      const NormalizedSum y = pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 1e-5, state);
      return Tensors{y.sum, y.normalized};
    };
  }));
  list.push_back(of_rows("rms_norm", matrices_and_vectors(1, 1, n),
                         [](const Tensors& x) { return [=] { return Tensors{rms_norm(x[0], x[1])}; }; }));
  list.push_back(of_rows("rms_norm backward", matrices_and_vectors(2, 1, n), [](const Tensors& x) {
    const auto state = std::make_shared<clad::pullback_state<RMSNormState>>();
    pullbacks::rms_norm_reverse_forw(x[0], x[2], 1e-6, *state);
    return [=] {
      Tensors d(2);
      pullbacks::rms_norm_pullback(x[0], x[2], 1e-6, x[1], &d[0], &d[1], nullptr, *state);
      return d;
    };
  }));
}

void add_pointwise(std::vector<Kernel>& list, int64_t n) {
  list.push_back(of_rows("gelu_tanh", matrices(1, 4 * n),
                         [](const Tensors& x) { return [=] { return Tensors{gelu_tanh(x[0])}; }; }));
  list.push_back(of_rows("gelu_tanh backward", matrices(2, 4 * n), [](const Tensors& x) {
    return [=] {
      Tensors d(1);
      pullbacks::pointwise_pullback(functions::GeluTanh{}, x[0], x[1], &d[0]);
      return d;
    };
  }));
  list.push_back(of_rows("swiglu", matrices(2, 4 * n),
                         [](const Tensors& x) { return [=] { return Tensors{swiglu(x[0], x[1])}; }; }));
  list.push_back(of_rows("swiglu backward", matrices(3, 4 * n), [](const Tensors& x) {
    return [=] {
      Tensors d(2);
      pullbacks::swiglu_pullback(x[0], x[1], x[2], &d[0], &d[1]);
      return d;
    };
  }));
  list.push_back(
      of_rows("add", matrices(2, n), [](const Tensors& x) { return [=] { return Tensors{x[0] + x[1]}; }; }));
  list.push_back(of_rows("dropout", matrices(1, n), [](const Tensors& x) {
    return [=] {
      const TrainingScope training(1, 1);
      return Tensors{dropout(x[0], 0.1)};
    };
  }));
  list.push_back(of_rows("bias gradient", matrices_and_vectors(1, 1, 4 * n), [n](const Tensors& x) {
    const Tensor weight = zeros({4 * n, 1}, x[0].dtype(), x[0].device());
    const Tensor input = zeros({x[0].size(0), 1}, x[0].dtype(), x[0].device());
    return [=] {
      Tensors d(1);
      pullbacks::linear_pullback(input, weight, x[1], x[0], nullptr, nullptr, &d[0]);
      return d;
    };
  }));
}

void add_softmax(std::vector<Kernel>& list) {
  constexpr int64_t n = 1024;
  list.push_back(of_rows("softmax", matrices(1, n),
                         [](const Tensors& x) { return [=] { return Tensors{softmax(x[0])}; }; }));
  list.push_back(of_rows("softmax backward", matrices(2, n), [](const Tensors& x) {
    const auto state = std::make_shared<clad::pullback_state<OutputState>>();
    pullbacks::softmax_reverse_forw(x[0], *state);
    return [=] {
      Tensors d(1);
      pullbacks::softmax_pullback(x[0], x[1], &d[0], *state);
      return d;
    };
  }));
}

void add_rotary(std::vector<Kernel>& list) {
  constexpr int64_t head_size = 128, channels = 4096, length = 16;
  const auto sequences = [](int64_t rows) { return Operands{{{rows / length, length, channels}}}; };
  list.push_back(of_rows("rotary_embedding", sequences, [](const Tensors& x) {
    const Tensor table = rotary_table(RotaryFrequencies({}, head_size), 0, length, x[0].device());
    return [=] { return Tensors{rotary_embedding(x[0], table)}; };
  }));
}

void add_embedding(std::vector<Kernel>& list, int64_t n) {
  const auto operands = [n](int64_t rows) {
    const int64_t words = rows > check_rows ? vocabulary : 100;
    return Operands{ids(rows, words), {{words, n}}, {{rows / 16, 16, n}}};
  };
  Kernel forward = of_rows("embedding", operands,
                           [](const Tensors& x) { return [=] { return Tensors{embedding(x[0], x[1])}; }; });
  forward.bytes = static_cast<double>(rows) * (4 + 2 * bf16_bytes * static_cast<double>(n));
  list.push_back(forward);
  Kernel backward = of_rows("embedding backward", operands, [](const Tensors& x) {
    const auto state = std::make_shared<clad::pullback_state<EmbeddingState>>();
    pullbacks::embedding_reverse_forw(x[0], x[1], *state);
    return [=] {
      Tensors d(1);
      pullbacks::embedding_pullback(x[0], x[1], x[2], nullptr, &d[0], *state);
      return d;
    };
  });
  backward.bytes = static_cast<double>(rows) * 4 +
                   bf16_bytes * static_cast<double>(n) * (double{rows} + double{vocabulary});
  list.push_back(backward);
}

/// linear() forward, and its gradients with respect to x and the weight; in float8 with the rounding.
void add_products(std::vector<Kernel>& list, int64_t n, bool float8) {
  constexpr int64_t tokens = 1 << 14;
  const int64_t out = 4 * n;
  const auto operands = [=](int64_t count) { return Operands{{{count, n}}, {{out, n}}, {{count, out}}}; };
  const double product = 2 * double{tokens} * double(n) * double(out);
  const std::string suffix = float8 ? " in fp8, with rounding" : "";
  const auto layers = [=](const Tensors& x) {
    return float8 ? std::make_shared<Float8Layers>(Tensors{x[1]}) : nullptr;
  };
  list.push_back(
      {.name = "linear" + suffix,
       .operands = operands,
       .prepare =
           [=](const Tensors& x) { return [=, rounded = layers(x)] { return Tensors{linear(x[0], x[1])}; }; },
       .rows = tokens,
       .rows_check = check_rows,
       .flops = product});
  list.push_back({.name = "linear backward" + suffix,
                  .operands = operands,
                  .prepare =
                      [=](const Tensors& x) {
                        return [=, rounded = layers(x)] {
                          Tensors d(2);
                          pullbacks::linear_pullback(x[0], x[1], x[2], &d[0], &d[1]);
                          return d;
                        };
                      },
                  .rows = tokens,
                  .rows_check = check_rows,
                  .flops = 2 * product});
}

void add_classifier(std::vector<Kernel>& list, int64_t n) {
  constexpr int64_t tokens = 1 << 14;
  const auto operands = [=](int64_t count) {
    const int64_t words = count == tokens ? vocabulary : 101;
    return Operands{{{count / 16, 16, n}}, {{words, n}, 0.02}, ids(count, words)};
  };
  list.push_back({.name = "linear_cross_entropy, forward and backward",
                  .operands = operands,
                  .prepare =
                      [](const Tensors& x) {
                        const Tensor one = ones({}, DType::float32, x[0].device());
                        return [=] {
                          clad::pullback_state<LinearCrossEntropyState> state;
                          Tensors d(2);
                          d.push_back(
                              pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], x[2], -100, state));
                          pullbacks::linear_cross_entropy_pullback(x[0], x[1], x[2], -100, one, &d[0], &d[1],
                                                                   nullptr, state);
                          return d;
                        };
                      },
                  .rows = tokens,
                  .rows_check = check_rows,
                  .flops = 6 * double{tokens} * double(n) * double{vocabulary}});
}

void add_optimizer(std::vector<Kernel>& list) {
  constexpr int64_t n = 768;
  const double parameters = double{rows} * double{n};
  Kernel adamw = of_rows("AdamW with masters", matrices(1, n), [](const Tensors& x) {
    struct State {
      TensorList parameters, masters, gradients;
      AdamW optimizer;
    };
    const Tensor gradient = gradient_buffer_like(x[0]);
    const std::vector<NamedTensor> masters = {{"w", x[0].to(DType::float32)}},
                                   weights = {{"w", x[0].clone()}}, gradients = {{"w", gradient}};
    const auto state =
        std::make_shared<State>(State{TensorList(weights), TensorList(masters), TensorList(gradients),
                                      AdamW(TensorList(weights), TensorList(masters), {})});
    Tensor written = gradient;
    written.accumulate(x[0].to(DType::float32));
    return [=] {
      state->optimizer.step(state->gradients, 0.5);
      return Tensors{masters[0].tensor};
    };
  });
  adamw.bytes = 30 * parameters;
  list.push_back(adamw);
}

void add_float8(std::vector<Kernel>& list, int64_t n) {
  using Layouts = detail::Float8Layouts;
  for (const auto& [name, layouts, written] : {std::tuple{"rounding to fp8", Layouts::rows, 1},
                                               {"rounding to fp8 and its transpose", Layouts::both, 2}}) {
    Kernel kernel = of_rows(name, matrices(1, n), [layouts](const Tensors& x) -> Timed {
      if (!x[0].is_cuda()) return [] { return Tensors{}; };  // there is nothing that could be compared
      const Float8Scaling scaling{ones({3, Float8Scaling::steps}, DType::float32, x[0].device())};
      return [=] {
        const TrainingScope training(1, 1);
        const detail::Float8OnDevice rounded(x[0], scaling, detail::Float8Role::cotangent, layouts);
        return Tensors{};
      };
    });
    kernel.bytes = static_cast<double>(rows * n) * (bf16_bytes + written);
    list.push_back(kernel);
  }
}

}  // namespace

std::vector<Kernel> kernels(const std::vector<int64_t>& widths) {
  std::vector<Kernel> list;
  for (const int64_t n : widths) {
    add_norms(list, n);
    add_pointwise(list, n);
    add_embedding(list, n);
    add_float8(list, n);
    add_products(list, n, false);
    add_products(list, n, true);
    add_classifier(list, n);
  }
  add_softmax(list);
  add_rotary(list);
  add_optimizer(list);
  add_attention(list);
  return list;
}

}  // namespace cladtorch::bench
