// Operations that are no functions of single elements.
#include "cladtorch/ops/ops.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

/// Of pullbacks that read the rounded result.
constexpr double result_rounding = 0x1p-7;

const std::vector<std::vector<Shape>> broadcasts = {
    {{3, 4}, {4}},        {{}, {}},          {{0, 3}, {3}},
    {{3}, {2, 3}},        {{2, 3}, {2, 1}},  {{4, 5}, {}},
    {{2, 1, 4}, {3, 1}},  {{5000}, {}},      {{70, 600}, {600}},
    {{33, 600}, {33, 1}}, {{20000}, {20000}}};

template <auto reverse_forw, auto pullback>
void run_of_two(const Tensors& x, Tensor d_y, const Gradients& d) {
  State<BroadcastState> state;
  reverse_forw(x[0], x[1], state);
  pullback({}, {}, std::move(d_y), d[0], d[1], state);
}
template <auto reverse_forw, auto pullback>
void run_of_result(const Tensors& x, Tensor d_y, const Gradients& d) {
  State<OutputState> state;
  reverse_forw(x[0], state);
  pullback({}, std::move(d_y), d[0], state);
}
template <auto pullback>
void run_pullback_of_two(const Tensors& x, Tensor d_y, const Gradients& d) {
  pullback(x[0], x[1], std::move(d_y), d[0], d[1]);
}
template <auto reverse_forw, auto pullback>
void run_of_shape(const Tensors& x, Tensor d_y, const Gradients& d) {
  State<ShapeState> state;
  reverse_forw(x[0], state);
  pullback({}, std::move(d_y), d[0], state);
}

/// The two results one behind the other.
Tensor together(const NormalizedSum& y) { return cat({y.sum, y.normalized}); }
NormalizedSum apart(const Tensor& d_y) {
  if (!d_y.defined()) return {};
  const auto parts = d_y.split(d_y.size(0) / 2, 0);
  return {parts[0], parts[1]};
}

/// A sum along some dimensions, times a factor.
Operation partial_sum(const char* name, const Shape& kept, double factor,
                      const std::function<Tensor(const Tensor& x)>& function) {
  return {name,
          {{}},
          {{{3, 4, 5}}},
          [=](const Tensors& x) { return function(x[0]); },
          [=](const Tensors& x, Tensor d_y, const Gradients& d) {
            if (!d_y.defined()) return;
            State<ShapeState> state;
            pullbacks::sum_to_reverse_forw(x[0], kept, state);
            pullbacks::sum_to_pullback({}, kept, scale(d_y.reshape(kept), factor), d[0], state);
          },
          0,
          true,
          false};
}

std::vector<Operation> arithmetic() {
  return {
      {"add",
       {{"a"}, {"b"}},
       broadcasts,
       [](const Tensors& x) { return x[0] + x[1]; },
       run_of_two<pullbacks::add_reverse_forw, pullbacks::add_pullback>},
      {"sub",
       {{"a"}, {"b"}},
       broadcasts,
       [](const Tensors& x) { return x[0] - x[1]; },
       run_of_two<pullbacks::sub_reverse_forw, pullbacks::sub_pullback>},
      {"mul",
       {{"a"}, {"b"}},
       broadcasts,
       [](const Tensors& x) { return x[0] * x[1]; },
       run_pullback_of_two<pullbacks::mul_pullback>},
      {"div",
       {{"a"}, {"b", 1.2, 1.8}},
       broadcasts,
       [](const Tensors& x) { return x[0] / x[1]; },
       run_pullback_of_two<pullbacks::div_pullback>},
      {"mse_loss",
       {{"prediction"}, {"target"}},
       {{{4, 5}, {4, 5}}, {{3, 700}, {3, 700}}},
       [](const Tensors& x) { return mse_loss(x[0], x[1]); },
       run_pullback_of_two<pullbacks::mse_loss_pullback>},
      {"swiglu",
       {{"gate"}, {"up"}},
       {{{3, 9}, {3, 9}}, {{0}, {0}}, {{513}, {513}}, {{3, 7000}, {3, 7000}}},
       [](const Tensors& x) { return swiglu(x[0], x[1]); },
       run_pullback_of_two<pullbacks::swiglu_pullback>},
      {"sum",
       {{}},
       {{{4, 5}}, {{3, 20001}}},
       [](const Tensors& x) { return sum(x[0]); },
       run_of_shape<pullbacks::sum_reverse_forw, pullbacks::sum_pullback>,
       0,
       true,
       false},
      {"mean",
       {{}},
       {{{4, 5}}, {{3, 5}}},
       [](const Tensors& x) { return mean(x[0]); },
       run_of_shape<pullbacks::mean_reverse_forw, pullbacks::mean_pullback>,
       0,
       true,
       false},
      partial_sum("sum_to", {4, 1}, 1, [](const Tensor& x) { return sum_to(x, {4, 1}); }),
      partial_sum("sum_of_rows", {3, 4, 1}, 1, [](const Tensor& x) { return sum(x, -1); }),
      partial_sum("mean_of_columns", {3, 1, 5}, 0.25, [](const Tensor& x) { return mean(x, 1, true); }),
  };
}

std::vector<Operation> along_dimensions() {
  const std::vector<std::vector<Shape>> lines = {{{3, 5, 4}}, {{1, 7, 1}}, {{2, 6, 700}}};
  const auto extreme = [&](const char* name, Tensor (*forward)(const Tensor&, int64_t, bool),
                           auto reverse_forw, auto pullback) {
    return Operation{name,
                     {{}},
                     lines,
                     [=](const Tensors& x) { return forward(x[0], 1, false); },
                     [=](const Tensors& x, Tensor d_y, const Gradients& d) {
                       State<ExtremeState> state;
                       reverse_forw(x[0], 1, false, state);
                       pullback({}, 1, false, std::move(d_y), d[0], state);
                     },
                     0,
                     true,
                     true,
                     false};
  };
  return {
      {"cat",
       {{"a"}, {"b"}},
       {{{3, 5, 4}, {3, 2, 4}}, {{2, 0, 3}, {2, 4, 3}}},
       [](const Tensors& x) { return cat({x[0], x[1]}, 1); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<CatState> state;
         pullbacks::cat_reverse_forw({x[0], x[1]}, -2, state);
         std::vector<Tensor> parts(2);
         for (size_t i = 0; i < 2; ++i)
           if (d[i]) parts[i] = std::move(*d[i]);
         pullbacks::cat_pullback({}, -2, std::move(d_y), &parts, state);
         for (size_t i = 0; i < 2; ++i)
           if (d[i]) *d[i] = std::move(parts[i]);
       }},
      {"flip",
       {{}},
       lines,
       [](const Tensors& x) { return flip(x[0], 1); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::flip_pullback(x[0], 1, std::move(d_y), d[0]);
       },
       0,
       true,
       false,
       false},
      {"cumsum",
       {{}},
       lines,
       [](const Tensors& x) { return cumsum(x[0], 1); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::cumsum_pullback(x[0], 1, std::move(d_y), d[0]);
       },
       0,
       true,
       false,
       false},
      extreme("amax", amax, pullbacks::amax_reverse_forw, pullbacks::amax_pullback),
      extreme("amin", amin, pullbacks::amin_reverse_forw, pullbacks::amin_pullback),
  };
}

std::vector<Operation> products() {
  const auto gelu = [](const Tensors& x, Tensor d_y, const Gradients& d) {
    State<LinearGeluState> state;
    pullbacks::linear_gelu_tanh_reverse_forw(x[0], x[1], x[2], state);
    pullbacks::linear_gelu_tanh_pullback(x[0], x[1], x[2], std::move(d_y), d[0], d[1], d[2], state);
  };
  const auto mlp = [](const Tensors& x, Tensor d_y, const Gradients& d) {
    State<MlpGeluState> state;
    pullbacks::mlp_gelu_tanh_reverse_forw(x[0], x[1], x[2], x[3], x[4], state);
    pullbacks::mlp_gelu_tanh_pullback(x[0], x[1], x[2], x[3], x[4], std::move(d_y), d[0], d[1], d[2], d[3],
                                      d[4], state);
  };
  return {
      {"matmul",
       {{"a"}, {"b"}},
       {{{3, 4}, {4, 5}}, {{2, 3, 7, 20}, {3, 20, 9}}},
       [](const Tensors& x) { return matmul(x[0], x[1]); },
       run_pullback_of_two<pullbacks::matmul_pullback>},
      {"linear",
       {{"x"}, {"weight"}, {"bias"}},
       {{{3, 5}, {4, 5}, {4}}, {{2, 7, 40}, {50, 40}, {50}}},
       [](const Tensors& x) { return linear(x[0], x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::linear_pullback(x[0], x[1], x[2], std::move(d_y), d[0], d[1], d[2]);
       }},
      {"linear_gelu_tanh",
       {{"x"}, {"weight"}, {"bias"}},
       {{{3, 5}, {4, 5}, {4}}, {{2, 7, 40}, {50, 40}, {50}}},
       [](const Tensors& x) { return linear_gelu_tanh(x[0], x[1], x[2]); },
       gelu,
       0,
       false},
      {"mlp_gelu_tanh",
       {{"x"}, {"weight"}, {"bias"}, {"projection"}, {"projection_bias"}},
       {{{3, 5}, {4, 5}, {4}, {9, 4}, {9}}},
       [](const Tensors& x) { return mlp_gelu_tanh(x[0], x[1], x[2], x[3], x[4]); },
       mlp,
       0,
       false},
      {"linear_cross_entropy",
       {{"x"}, {"weight"}, {"targets", 0, 0, 11}},
       {{{5, 8}, {11, 8}, {5}}, {{300, 8}, {5000, 8}, {300}}},
       [](const Tensors& x) { return linear_cross_entropy(x[0], x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<LinearCrossEntropyState> state;
         pullbacks::linear_cross_entropy_reverse_forw(x[0], x[1], x[2], -100, state);
         pullbacks::linear_cross_entropy_pullback({}, {}, {}, -100, std::move(d_y), d[0], d[1], d[2], state);
       },
       0.1,
       true,
       false},
      {"embedding",
       {{"indices", 0, 0, 5}, {"weight"}},
       {{{2, 3}, {5, 4}}, {{7}, {5, 130}}},
       [](const Tensors& x) { return embedding(x[0], x[1]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<EmbeddingState> state;
         pullbacks::embedding_reverse_forw(x[0], x[1], state);
         pullbacks::embedding_pullback(x[0], {}, std::move(d_y), d[0], d[1], state);
       }},
  };
}

std::vector<Operation> normalizations() {
  const std::vector<std::vector<Shape>> with_bias = {{{3, 8}, {8}, {8}},
                                                     {{7}, {7}, {7}},
                                                     {{2, 3, 17}, {17}, {17}},
                                                     {{0, 4}, {4}, {4}},
                                                     {{133, 770}, {770}, {770}}};
  std::vector<std::vector<Shape>> without, sums, sums_with_bias;
  for (const auto& shapes : with_bias) {
    without.push_back({shapes[0], shapes[1]});
    sums.push_back({shapes[0], shapes[0], shapes[1]});
    sums_with_bias.push_back({shapes[0], shapes[0], shapes[1], shapes[1]});
  }
  return {
      {"softmax",
       {{}},
       {{{3, 5}}, {{7}}, {{2, 3, 17}}, {{0, 4}}, {{40, 513}}, {{2, 20000}}},
       [](const Tensors& x) { return softmax(x[0]); },
       run_of_result<pullbacks::softmax_reverse_forw, pullbacks::softmax_pullback>,
       result_rounding,
       true,
       false},
      {"log_softmax",
       {{}},
       {{{3, 5}}, {{7}}, {{2, 3, 17}}, {{40, 513}}},
       [](const Tensors& x) { return log_softmax(x[0]); },
       run_of_result<pullbacks::log_softmax_reverse_forw, pullbacks::log_softmax_pullback>,
       0.5,
       true,
       false},
      {"layer_norm",
       {{"x"}, {"weight"}, {"bias"}},
       with_bias,
       [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<LayerNormState> state;
         pullbacks::layer_norm_reverse_forw(x[0], x[1], x[2], 1e-5, state);
         pullbacks::layer_norm_pullback(x[0], x[1], x[2], 1e-5, std::move(d_y), d[0], d[1], d[2], nullptr,
                                        state);
       }},
      {"rms_norm",
       {{"x"}, {"weight"}},
       without,
       [](const Tensors& x) { return rms_norm(x[0], x[1]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<RMSNormState> state;
         pullbacks::rms_norm_reverse_forw(x[0], x[1], 1e-6, state);
         pullbacks::rms_norm_pullback(x[0], x[1], 1e-6, std::move(d_y), d[0], d[1], nullptr, state);
       }},
      {"add_layer_norm",
       {{"a"}, {"b"}, {"weight"}, {"bias"}},
       {sums_with_bias[0], sums_with_bias[2]},
       [](const Tensors& x) { return together(add_layer_norm(x[0], x[1], x[2], x[3])); },
       [](const Tensors& x, const Tensor& d_y, const Gradients& d) {
         State<AddLayerNormState> state;
         pullbacks::add_layer_norm_reverse_forw(x[0], x[1], x[2], x[3], 1e-5, state);
         pullbacks::add_layer_norm_pullback({}, {}, x[2], x[3], 1e-5, apart(d_y), d[0], d[1], d[2], d[3],
                                            nullptr, state);
       },
       0,
       false},
      {"add_rms_norm",
       {{"a"}, {"b"}, {"weight"}},
       {sums[0], sums[2]},
       [](const Tensors& x) { return together(add_rms_norm(x[0], x[1], x[2])); },
       [](const Tensors& x, const Tensor& d_y, const Gradients& d) {
         State<AddRMSNormState> state;
         pullbacks::add_rms_norm_reverse_forw(x[0], x[1], x[2], 1e-6, state);
         pullbacks::add_rms_norm_pullback({}, {}, x[2], 1e-6, apart(d_y), d[0], d[1], d[2], nullptr, state);
       },
       0,
       false},
  };
}

std::vector<Operation> of_sequences() {
  const auto table = [](const Tensor& x) {
    return rotary_table(RotaryFrequencies({}, 6), 2, x.size(1)).to(x.device());
  };
  const auto dropped = [](const Tensor& x, State<DropoutState>* state) {
    const TrainingScope scope(7, 3);
    return state ? pullbacks::dropout_reverse_forw(x, 0.3, *state) : dropout(x, 0.3);
  };
  return {
      {"rotary_embedding",
       {{}},
       {{{2, 9, 18}}, {{1, 1, 6}}, {{3, 70, 96}}, {{0, 3, 6}}},
       [=](const Tensors& x) { return rotary_embedding(x[0], table(x[0])); },
       [=](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::rotary_embedding_pullback({}, table(x[0]), std::move(d_y), d[0], nullptr);
       },
       0,
       true,
       false},
      {"causal_attention",
       {{"qkv"}},
       {{{2, 5, 18}}, {{1, 1, 9}}, {{1, 70, 99}}, {{0, 3, 9}}},
       [](const Tensors& x) { return causal_attention(x[0], 3); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<AttentionState> state;
         pullbacks::causal_attention_reverse_forw(x[0], 3, state);
         pullbacks::causal_attention_pullback(x[0], 3, std::move(d_y), d[0], state);
       },
       result_rounding,
       true,
       false},
      {"grouped_attention",
       {{"q"}, {"k"}, {"v"}},
       {{{2, 7, 16}, {2, 7, 8}, {2, 7, 8}}, {{1, 70, 40}, {1, 70, 20}, {1, 70, 20}}},
       [](const Tensors& x) { return causal_attention(x[0], x[1], x[2], 4, 5); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<AttentionState> state;
         pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], 4, 5, state);
         pullbacks::causal_attention_pullback(x[0], x[1], x[2], 4, 5, std::move(d_y), d[0], d[1], d[2],
                                              state);
       },
       result_rounding},
      {"dropout",
       {{}},
       {{{3, 1000}}, {{0}}, {{7}}},
       [=](const Tensors& x) { return dropped(x[0], nullptr); },
       [=](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<DropoutState> state;
         dropped(x[0], &state);
         pullbacks::dropout_pullback({}, 0.3, std::move(d_y), d[0], nullptr, state);
       },
       0,
       true,
       false},
      {"tril",
       {{}},
       {{{3, 7, 9}}},
       [](const Tensors& x) { return tril(x[0]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::tril_pullback(x[0], std::move(d_y), d[0]);
       },
       0,
       true,
       false},
      // Under softmax: hidden scores are infinite.
      {"causal_mask",
       {{"scores"}},
       {{{3, 7, 9}}, {{2, 3, 3}}},
       [](const Tensors& x) { return softmax(causal_mask(x[0])); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<OutputState> state;
         pullbacks::softmax_reverse_forw(causal_mask(x[0]), state);
         Tensor d_masked;
         pullbacks::softmax_pullback({}, std::move(d_y), &d_masked, state);
         pullbacks::causal_mask_pullback({}, std::move(d_masked), d[0]);
       },
       result_rounding,
       true,
       false},
      {"cross_entropy",
       {{"logits"}, {"targets", 0, 0, 4}},
       {{{2, 4, 4}, {2, 4}}, {{3, 2000}, {3}}},
       [](const Tensors& x) { return cross_entropy(x[0], x[1]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<CrossEntropyState> state;
         pullbacks::cross_entropy_reverse_forw(x[0], x[1], -100, state);
         pullbacks::cross_entropy_pullback(x[0], x[1], -100, std::move(d_y), d[0], d[1], state);
       },
       0,
       true,
       false},
      {"nll_loss",
       {{"log_probabilities"}, {"targets", 0, 0, 4}},
       {{{2, 4, 4}, {2, 4}}},
       [](const Tensors& x) { return nll_loss(x[0], x[1]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::nll_loss_pullback(x[0], x[1], -100, std::move(d_y), d[0], d[1]);
       },
       0,
       true,
       false},
  };
}

}  // namespace

std::vector<Operation> operations_of_tensors() {
  std::vector<Operation> all;
  for (const auto& part : {arithmetic(), along_dimensions(), products(), normalizations(), of_sequences()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace cladtorch::testing
