// Constants for derivatives: what is computed from them alone, and pullbacks that leave out the work for
// them.
#include <gtest/gtest.h>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

struct Operation {
  const char* name;
  std::vector<Shape> shapes;
  /// Forward and pullback for a cotangent of ones.
  std::function<Tensor(const Tensors& x, const Gradients& d)> run;
};

Tensor cotangent(const Tensor& y) { return ones(y.shape(), y.dtype()); }

Tensor run_linear(const Tensors& x, const Gradients& d) {
  Tensor y = linear(x[0], x[1], x[2]);
  pullbacks::linear_pullback(x[0], x[1], x[2], cotangent(y), d[0], d[1], d[2]);
  return y;
}

Tensor run_layer_norm(const Tensors& x, const Gradients& d) {
  State<LayerNormState> state;
  Tensor y = pullbacks::layer_norm_reverse_forw(x[0], x[1], x[2], 1e-5, state);
  pullbacks::layer_norm_pullback(x[0], x[1], x[2], 1e-5, mul(y, y), d[0], d[1], d[2], nullptr, state);
  return y;
}

Tensor run_linear_gelu(const Tensors& x, const Gradients& d) {
  State<LinearGeluState> state;
  Tensor y = pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], x[2], state);
  pullbacks::linear_gelu_tanh_pullback(x[0], x[1], x[2], cotangent(y), d[0], d[1], d[2], state);
  return y;
}

Tensor run_mlp_gelu(const Tensors& x, const Gradients& d) {
  State<MlpGeluState> state;
  Tensor y = pullbacks::mlp_gelu_tanh_reverse_forw(x[0], x[1], x[2], x[3], x[4], state);
  pullbacks::mlp_gelu_tanh_pullback(x[0], x[1], x[2], x[3], x[4], cotangent(y), d[0], d[1], d[2], d[3], d[4],
                                    state);
  return y;
}

Tensor run_add_layer_norm(const Tensors& x, const Gradients& d) {
  State<AddLayerNormState> state;
  const NormalizedSum y = pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 1e-5, state);
  pullbacks::add_layer_norm_pullback({}, {}, x[2], x[3], 1e-5,
                                     {cotangent(y.sum), mul(y.normalized, y.normalized)}, d[0], d[1], d[2],
                                     d[3], nullptr, state);
  return y.normalized;
}

Tensor run_add_rms_norm(const Tensors& x, const Gradients& d) {
  State<AddRMSNormState> state;
  const NormalizedSum y = pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], 1e-6, state);
  pullbacks::add_rms_norm_pullback({}, {}, x[2], 1e-6, {cotangent(y.sum), mul(y.normalized, y.normalized)},
                                   d[0], d[1], d[2], nullptr, state);
  return y.normalized;
}

Tensor run_rms_norm(const Tensors& x, const Gradients& d) {
  State<RMSNormState> state;
  Tensor y = pullbacks::rms_norm_reverse_forw(x[0], x[1], 1e-5, state);
  pullbacks::rms_norm_pullback(x[0], x[1], 1e-5, mul(y, y), d[0], d[1], nullptr, state);
  return y;
}

Tensor run_embedding(const Tensors& x, const Gradients& d) {
  State<EmbeddingState> state;
  const Tensor ids = testing::random_tokens({2, 3}, 7, 1);
  Tensor y = pullbacks::embedding_reverse_forw(ids, x[0], state);
  pullbacks::embedding_pullback(ids, {}, cotangent(y), nullptr, d[0], state);
  return y;
}

Tensor run_add(const Tensors& x, const Gradients& d) {
  State<BroadcastState> state;
  Tensor y = pullbacks::add_reverse_forw(x[0], x[1], state);
  pullbacks::add_pullback({}, {}, cotangent(y), d[0], d[1], state);
  return y;
}

Tensor run_sub(const Tensors& x, const Gradients& d) {
  State<BroadcastState> state;
  Tensor y = pullbacks::sub_reverse_forw(x[0], x[1], state);
  pullbacks::sub_pullback({}, {}, cotangent(y), d[0], d[1], state);
  return y;
}

template <auto forward, auto pullback>
Tensor run_binary(const Tensors& x, const Gradients& d) {
  Tensor y = forward(x[0], x[1]);
  pullback(x[0], x[1], cotangent(y), d[0], d[1]);
  return y;
}

Tensor run_attention(const Tensors& x, const Gradients& d) {
  State<AttentionState> state;
  Tensor y = pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], 2, 0, state);
  pullbacks::causal_attention_pullback(x[0], x[1], x[2], 2, 0, cotangent(y), d[0], d[1], d[2], state);
  return y;
}

template <int64_t rows>
Tensor run_classifier(const Tensors& x, const Gradients& d) {
  State<LinearCrossEntropyState> state;
  Tensor targets = testing::random_tokens({rows}, x[1].size(0), 3);
  targets.data<int32_t>()[0] = -100;
  Tensor y = pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], targets, -100, state);
  pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, full({}, 2, y.dtype()), d[0], d[1], nullptr,
                                           state);
  return y;
}

std::vector<Operation> operations() {
  return {
      {"linear", {{3, 5}, {4, 5}, {4}}, run_linear},
      {"layer_norm", {{3, 8}, {8}, {8}}, run_layer_norm},
      {"linear_gelu_tanh", {{3, 5}, {4, 5}, {4}}, run_linear_gelu},
      {"mlp_gelu_tanh", {{3, 5}, {4, 5}, {4}, {2, 4}, {2}}, run_mlp_gelu},
      {"add_layer_norm", {{3, 8}, {3, 8}, {8}, {8}}, run_add_layer_norm},
      {"add_rms_norm", {{3, 8}, {3, 8}, {8}}, run_add_rms_norm},
      {"rms_norm", {{3, 8}, {8}}, run_rms_norm},
      {"embedding", {{7, 4}}, run_embedding},
      {"add", {{3, 4}, {4}}, run_add},
      {"sub", {{3, 4}, {4}}, run_sub},
      {"mul", {{3, 4}, {4}}, run_binary<mul, pullbacks::mul_pullback>},
      {"div",
       {{3, 4}, {4}},
       run_binary<static_cast<Tensor (*)(const Tensor&, const Tensor&)>(&div), pullbacks::div_pullback>},
      {"matmul", {{3, 4}, {4, 5}}, run_binary<matmul, pullbacks::matmul_pullback>},
      {"swiglu", {{3, 9}, {3, 9}}, run_binary<swiglu, pullbacks::swiglu_pullback>},
      {"mse_loss", {{3, 4}, {3, 4}}, run_binary<mse_loss, pullbacks::mse_loss_pullback>},
      {"causal_attention", {{2, 3, 8}, {2, 3, 4}, {2, 3, 4}}, run_attention},
      {"linear_cross_entropy in one block", {{5, 8}, {11, 8}}, run_classifier<5>},
      {"linear_cross_entropy in blocks", {{300, 8}, {50000, 8}}, run_classifier<300>},
  };
}

Tensors inputs(const Operation& operation, DType dtype) {
  Tensors x;
  Random random(7);
  for (const Shape& shape : operation.shapes) x.push_back(randn(shape, random, DType::float64).to(dtype));
  return x;
}

/// Gradient buffers of all inputs; a sink where the input is frozen.
Tensors gradients_of(const Operation& operation, const Tensors& x, Tensor* y = nullptr) {
  Tensors buffers;
  Gradients d;
  for (const Tensor& one : x) buffers.push_back(gradient_buffer_like(one));
  for (Tensor& buffer : buffers) d.push_back(&buffer);
  Tensor result = operation.run(x, d);
  if (y) *y = result;
  return buffers;
}

class Frozen : public ::testing::TestWithParam<DType> {};

TEST_P(Frozen, ArgumentsLeaveTheGradientsOfTheOthersAsTheyAre) {
  for (const Operation& operation : operations()) {
    Tensors x = inputs(operation, GetParam());
    Tensor expected_y;
    const Tensors expected = gradients_of(operation, x, &expected_y);
    EXPECT_FALSE(expected_y.is_frozen()) << operation.name;
    for (unsigned frozen = 1; frozen < 1u << x.size(); ++frozen) {
      for (size_t i = 0; i < x.size(); ++i) x[i].set_frozen(frozen >> i & 1);
      Tensor y;
      const Tensors got = gradients_of(operation, x, &y);
      EXPECT_TRUE(same_bits(y, expected_y)) << operation.name;
      EXPECT_EQ(y.is_frozen(), frozen + 1 == 1u << x.size()) << operation.name << ' ' << frozen;
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(got[i].is_gradient_sink(), x[i].is_frozen());
        if (x[i].is_frozen()) continue;
        EXPECT_TRUE(same_bits(got[i], expected[i])) << operation.name << ' ' << frozen;
      }
    }
  }
}

TEST_P(Frozen, ArgumentsEndTheBackwardPass) {
  for (const Operation& operation : operations()) {
    Tensors x = inputs(operation, GetParam()), local(x.size());
    Gradients d;
    for (Tensor& one : local) d.push_back(&one);
    for (Tensor& one : x) one.set_frozen(true);
    operation.run(x, d);
    for (const Tensor& one : local) EXPECT_FALSE(one.defined()) << operation.name;
  }
}

TEST_P(Frozen, ArgumentsWithAGradientOfOlderDateAreAnError) {
  for (const Operation& operation : operations()) {
    Tensors x = inputs(operation, GetParam()), buffers;
    Gradients d;
    for (const Tensor& one : x) buffers.push_back(gradient_buffer_like(one));
    for (Tensor& buffer : buffers) d.push_back(&buffer);
    x.back().set_frozen(true);
    EXPECT_THROW(operation.run(x, d), Error) << operation.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Frozen, ::testing::Values(DType::float32, DType::float64, DType::bfloat16),
                         [](const auto& info) { return ::testing::PrintToString(info.index); });

TEST(Frozen, ALinearLayerDoesNotReadItsInputInThePullback) {
  Tensor weight = testing::normals({{4, 5}})[0], d_x, d_weight = gradient_sink({4, 5}, DType::float64);
  pullbacks::linear_pullback(Tensor(), weight, ones({2, 3, 4}, DType::float64), &d_x, &d_weight);
  EXPECT_EQ(d_x.shape(), (Shape{2, 3, 5}));
}

TEST(Frozen, AClassifierKeepsNothingForItsWeight) {
  Tensor x = testing::normals({{300, 8}})[0], weight = testing::normals({{50000, 8}})[0];
  const Tensor targets = testing::random_tokens({300}, 50000, 3);
  for (const bool frozen : {false, true}) {
    weight.set_frozen(frozen);
    State<LinearCrossEntropyState> state;
    pullbacks::linear_cross_entropy_reverse_forw(x, weight, targets, -100, state);
    EXPECT_EQ(state.data.d_weight.defined(), !frozen);
    EXPECT_FALSE(state.data.exponentials.defined());
  }
}

TEST(Frozen, ConstantsPassThroughOperationsOfOneArgument) {
  Tensor x = testing::normals({{1, 2, 6}})[0].to(DType::float32);
  x.set_frozen(true);
  const Tensor table = rotary_table(RotaryFrequencies({}, 2), 0, 2);
  for (const Tensor& y :
       {gelu_tanh(x), gelu_erf(x), relu(x), tanh(x), sigmoid(x), silu(x), softmax(x), log_softmax(x), tril(x),
        sum(x), mean(x), causal_attention(x, 1), rotary_embedding(x, table), dropout(x, 0.5)})
    EXPECT_TRUE(y.is_frozen());
  EXPECT_FALSE(scale(x, 2).is_frozen()) << "a factor may have a derivative";
  EXPECT_FALSE(add(x, ones({6})).is_frozen());
}

}  // namespace
}  // namespace cladtorch
