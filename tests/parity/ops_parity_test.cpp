#include "cladtorch/ops/ops.h"
#include "tests/ops/pairwise.h"
#include "tests/ops/pointwise.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

struct Operation {
  std::string name;
  std::vector<const char*> operands;
  testing::Forward forward;
  testing::Pullback pullback;
};

/// For operations without a state.
template <auto Function, auto PullbackFunction>
Operation unary(const char* name) {
  return {
      name,
      {"x"},
      [](const Tensors& x) { return Function(x[0]); },
      [](const Tensors& x, Tensor d_y, const Gradients& d) { PullbackFunction(x[0], std::move(d_y), d[0]); }};
}
template <auto Function, auto PullbackFunction>
Operation binary(const char* name, const char* a = "a", const char* b = "b") {
  return {name,
          {a, b},
          [](const Tensors& x) { return Function(x[0], x[1]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            PullbackFunction(x[0], x[1], std::move(d_y), d[0], d[1]);
          }};
}

/// For those with one: the pullback's primals are not read.
template <class State, auto Function, auto ReverseForward, auto PullbackFunction>
Operation unary_with_state(const char* name) {
  return {name,
          {"x"},
          [](const Tensors& x) { return Function(x[0]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<State> state;
            ReverseForward(x[0], state);
            PullbackFunction({}, std::move(d_y), d[0], state);
          }};
}
template <class State, auto Function, auto ReverseForward, auto PullbackFunction>
Operation binary_with_state(const char* name, const char* a = "a", const char* b = "b") {
  return {name,
          {a, b},
          [](const Tensors& x) { return Function(x[0], x[1]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<State> state;
            ReverseForward(x[0], x[1], state);
            PullbackFunction(x[0], x[1], std::move(d_y), d[0], d[1], state);
          }};
}

Operation linear_operation() {
  return {"linear",
          {"x", "weight", "bias"},
          [](const Tensors& x) { return linear(x[0], x[1], x[2]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            pullbacks::linear_pullback(x[0], x[1], x[2], std::move(d_y), d[0], d[1], d[2]);
          }};
}
Operation layer_norm_operation() {
  return {"layer_norm",
          {"x", "weight", "bias"},
          [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<LayerNormState> state;
            pullbacks::layer_norm_reverse_forw(x[0], x[1], x[2], 1e-5, state);
            pullbacks::layer_norm_pullback(x[0], x[1], x[2], 1e-5, std::move(d_y), d[0], d[1], d[2], nullptr,
                                           state);
          }};
}
Operation attention_operation() {
  return {"causal_attention",
          {"qkv"},
          [](const Tensors& x) { return causal_attention(x[0], 3); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<AttentionState> state;
            pullbacks::causal_attention_reverse_forw(x[0], 3, state);
            pullbacks::causal_attention_pullback(x[0], 3, std::move(d_y), d[0], state);
          }};
}
Operation rms_norm_operation() {
  return {"rms_norm",
          {"x", "weight"},
          [](const Tensors& x) { return rms_norm(x[0], x[1]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<RMSNormState> state;
            pullbacks::rms_norm_reverse_forw(x[0], x[1], 1e-6, state);
            pullbacks::rms_norm_pullback(x[0], x[1], 1e-6, std::move(d_y), d[0], d[1], nullptr, state);
          }};
}
Operation rotary_operation() {
  const auto table = [] { return rotary_table(RotaryFrequencies({}, 6), 2, 9); };
  return {"rotary_embedding",
          {"x"},
          [=](const Tensors& x) { return rotary_embedding(x[0], table()); },
          [=](const Tensors&, Tensor d_y, const Gradients& d) {
            pullbacks::rotary_embedding_pullback({}, table(), std::move(d_y), d[0], nullptr);
          }};
}
Operation grouped_attention_operation() {
  return {"grouped_attention",
          {"q", "k", "v"},
          [](const Tensors& x) { return causal_attention(x[0], x[1], x[2], 4, 5); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<AttentionState> state;
            pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], 4, 5, state);
            pullbacks::causal_attention_pullback(x[0], x[1], x[2], 4, 5, std::move(d_y), d[0], d[1], d[2],
                                                 state);
          }};
}
/// Sums along some dimensions, times a factor.
template <class Function>
Operation partial_sum(const char* name, const Shape& kept, double factor, Function function) {
  return {name,
          {"x"},
          [=](const Tensors& x) { return function(x[0]); },
          [=](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<ShapeState> state;
            pullbacks::sum_to_reverse_forw(x[0], kept, state);
            pullbacks::sum_to_pullback({}, kept, scale(d_y.reshape(kept), factor), d[0], state);
          }};
}
Operation cross_entropy_operation() {
  return {"cross_entropy",
          {"logits", "targets"},
          [](const Tensors& x) { return cross_entropy(x[0], x[1]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<CrossEntropyState> state;
            pullbacks::cross_entropy_reverse_forw(x[0], x[1], -100, state);
            pullbacks::cross_entropy_pullback(x[0], x[1], -100, std::move(d_y), d[0], d[1], state);
          }};
}
Operation linear_cross_entropy_operation() {
  return {"linear_cross_entropy",
          {"x", "weight", "targets"},
          [](const Tensors& x) { return linear_cross_entropy(x[0], x[1], x[2]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<LinearCrossEntropyState> state;
            pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], x[2], -100, state);
            pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, std::move(d_y), d[0], d[1], d[2],
                                                     state);
          }};
}
Operation nll_loss_operation() {
  return {"nll_loss",
          {"log_probabilities", "targets"},
          [](const Tensors& x) { return nll_loss(x[0], x[1]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            pullbacks::nll_loss_pullback(x[0], x[1], -100, std::move(d_y), d[0], d[1]);
          }};
}
/// Under softmax: hidden scores are infinite.
Operation causal_mask_operation() {
  return {"causal_mask",
          {"scores"},
          [](const Tensors& x) { return softmax(causal_mask(x[0])); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<OutputState> state;
            pullbacks::softmax_reverse_forw(causal_mask(x[0]), state);
            Tensor d_masked;
            pullbacks::softmax_pullback({}, std::move(d_y), &d_masked, state);
            pullbacks::causal_mask_pullback({}, std::move(d_masked), d[0]);
          }};
}
Operation linear_gelu_tanh_operation() {
  return {"linear_gelu_tanh",
          {"x", "weight", "bias"},
          [](const Tensors& x) { return linear_gelu_tanh(x[0], x[1], x[2]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            clad::pullback_state<LinearGeluState> state;
            pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], x[2], state);
            pullbacks::linear_gelu_tanh_pullback(x[0], x[1], x[2], std::move(d_y), d[0], d[1], d[2], state);
          }};
}
/// Its two results one behind the other.
Operation add_layer_norm_operation() {
  return {"add_layer_norm",
          {"a", "b", "weight", "bias"},
          [](const Tensors& x) {
            const NormalizedSum y = add_layer_norm(x[0], x[1], x[2], x[3]);
            const int64_t half = y.sum.size(0);
            Tensor both = Tensor::empty(y.sum.shape().with(0, 2 * half), y.sum.dtype());
            both.slice(0, 0, half).copy_from(y.sum);
            both.slice(0, half, 2 * half).copy_from(y.normalized);
            return both;
          },
          [](const Tensors& x, const Tensor& d_y, const Gradients& d) {
            clad::pullback_state<AddLayerNormState> state;
            pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 1e-5, state);
            const auto parts = d_y.split(d_y.size(0) / 2, 0);
            pullbacks::add_layer_norm_pullback({}, {}, x[2], x[3], 1e-5, {parts[0], parts[1]}, d[0], d[1],
                                               d[2], d[3], nullptr, state);
          }};
}

const std::vector<Operation> operations = {
    binary_with_state<BroadcastState, add, pullbacks::add_reverse_forw, pullbacks::add_pullback>("add"),
    binary_with_state<BroadcastState, sub, pullbacks::sub_reverse_forw, pullbacks::sub_pullback>("sub"),
    binary<mul, pullbacks::mul_pullback>("mul"),
    binary<div, pullbacks::div_pullback>("div"),
    binary<matmul, pullbacks::matmul_pullback>("matmul"),
    linear_operation(),
    binary<swiglu, pullbacks::swiglu_pullback>("swiglu", "gate", "up"),
    unary_with_state<OutputState, softmax, pullbacks::softmax_reverse_forw, pullbacks::softmax_pullback>(
        "softmax"),
    unary_with_state<OutputState, log_softmax, pullbacks::log_softmax_reverse_forw,
                     pullbacks::log_softmax_pullback>("log_softmax"),
    layer_norm_operation(),
    rms_norm_operation(),
    rotary_operation(),
    binary_with_state<EmbeddingState, embedding, pullbacks::embedding_reverse_forw,
                      pullbacks::embedding_pullback>("embedding", "indices", "weight"),
    attention_operation(),
    grouped_attention_operation(),
    cross_entropy_operation(),
    linear_cross_entropy_operation(),
    nll_loss_operation(),
    causal_mask_operation(),
    unary<tril, pullbacks::tril_pullback>("tril"),
    linear_gelu_tanh_operation(),
    add_layer_norm_operation(),
    binary<mse_loss, pullbacks::mse_loss_pullback>("mse_loss", "prediction", "target"),
    unary_with_state<ShapeState, static_cast<Tensor (*)(const Tensor&)>(sum), pullbacks::sum_reverse_forw,
                     pullbacks::sum_pullback>("sum"),
    unary_with_state<ShapeState, static_cast<Tensor (*)(const Tensor&)>(mean), pullbacks::mean_reverse_forw,
                     pullbacks::mean_pullback>("mean"),
    partial_sum("sum_to", {4, 1}, 1, [](const Tensor& x) { return sum_to(x, {4, 1}); }),
    partial_sum("sum_of_rows", {3, 4, 1}, 1, [](const Tensor& x) { return sum(x, -1); }),
    partial_sum("mean_of_columns", {3, 1, 5}, 0.25, [](const Tensor& x) { return mean(x, 1, true); }),
};

/// And the functions of one and two elements of the catalogue.
std::vector<Operation> all_operations() {
  std::vector<Operation> all = operations;
  for (const testing::PointwiseOperation& f : testing::pointwise_operations())
    all.push_back({f.name, {"x"}, f.forward, f.pullback});
  for (const testing::PairwiseOperation& f : testing::pairwise_operations())
    all.push_back({"pairwise_" + f.name, {"a", "b"}, f.forward, f.pullback});
  return all;
}

void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

class OperationParity : public ::testing::TestWithParam<Operation> {};

TEST_P(OperationParity, ValueAndGradientsAgreeWithPyTorch) {
  constexpr double tolerance = 1e-5;
  const Operation& operation = GetParam();
  const testing::Reference reference;
  const std::string prefix = operation.name + "/";
  Tensors x;
  for (const char* operand : operation.operands) x.push_back(reference[prefix + operand]);
  EXPECT_LT(testing::relative_difference(operation.forward(x), reference[prefix + "y"]), tolerance);

  Tensors gradients(x.size());
  Gradients pointers;
  for (Tensor& gradient : gradients) pointers.push_back(&gradient);
  operation.pullback(x, reference[prefix + "d_y"], pointers);
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string name = prefix + "d_" + operation.operands[i];
    ASSERT_EQ(gradients[i].defined(), reference.contains(name)) << name;
    if (!gradients[i].defined()) continue;
    EXPECT_LT(testing::relative_difference(gradients[i], reference[name]), tolerance) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperationParity, ::testing::ValuesIn(all_operations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cladtorch
