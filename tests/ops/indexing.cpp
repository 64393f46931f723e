// Operations that choose elements by conditions and indices, products along a dimension, losses of labels.
#include "cladtorch/ops/indexing.h"

#include "cladtorch/ops/ctc_loss.h"
#include "cladtorch/ops/cumulative.h"
#include "cladtorch/ops/normalization.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

Tensor as_condition(const Tensor& x) { return x.to(DType::boolean); }

std::vector<Operation> choices() {
  const Operand condition{"condition", 0, 0, 2};
  return {
      {"where",
       {condition, {"a"}, {"b"}},
       {{{3, 4}, {3, 4}, {3, 4}}, {{3, 1}, {2, 1, 4}, {4}}, {{}, {2, 3}, {}}, {{70, 600}, {600}, {70, 1}}},
       [](const Tensors& x) { return where(as_condition(x[0]), x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<WhereState> state;
         pullbacks::where_reverse_forw(as_condition(x[0]), x[1], x[2], state);
         pullbacks::where_pullback(as_condition(x[0]), {}, {}, std::move(d_y), nullptr, d[1], d[2], state);
       }},
      {"where_number",
       {condition, {"a"}},
       {{{3, 4}, {3, 4}}, {{2, 3, 1}, {4}}},
       [](const Tensors& x) { return where(as_condition(x[0]), x[1], 0.5); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<WhereState> state;
         pullbacks::where_reverse_forw(as_condition(x[0]), x[1], 0.5, state);
         pullbacks::where_pullback(as_condition(x[0]), {}, 0.5, std::move(d_y), nullptr, d[1], nullptr,
                                   state);
       },
       0,
       true,
       false},
  };
}

template <auto function, auto reverse_forw, auto pullback>
Operation scattering(const char* name) {
  return {name,
          {{"x"}, {"index", 0, 0, 4}, {"src"}},
          {{{3, 4, 5}, {3, 6, 5}, {3, 6, 5}},
           {{4, 4}, {2, 5}, {3, 5}},
           {{4}, {0}, {2}},
           {{2, 4, 700}, {2, 9, 700}, {2, 9, 700}}},
          [](const Tensors& x) { return function(x[0], 1 % x[0].dim(), x[1], x[2]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            const int64_t dim = 1 % x[0].dim();
            State<ScatterState> state;
            reverse_forw(x[0], dim, x[1], x[2], state);
            pullback({}, dim, x[1], {}, std::move(d_y), d[0], nullptr, d[2], state);
          }};
}

std::vector<Operation> places() {
  using Scatter = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Tensor&);
  return {
      {"gather",
       {{"x"}, {"index", 0, 0, 4}},
       {{{3, 4, 5}, {3, 6, 5}},
        {{4, 4}, {2, 5}},
        {{5, 2, 7}, {4, 2, 1}},
        {{4}, {0}},
        {{2, 4, 700}, {2, 9, 700}}},
       [](const Tensors& x) { return gather(x[0], x[0].size(0) == 5 ? 0 : 1 % x[0].dim(), x[1]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         const int64_t dim = x[0].size(0) == 5 ? 0 : 1 % x[0].dim();
         State<GatherState> state;
         pullbacks::gather_reverse_forw(x[0], dim, x[1], state);
         pullbacks::gather_pullback({}, dim, x[1], std::move(d_y), d[0], nullptr, state);
       }},
      scattering<scatter_add, pullbacks::scatter_add_reverse_forw, pullbacks::scatter_add_pullback>(
          "scatter_add"),
      scattering<static_cast<Scatter>(scatter), pullbacks::scatter_reverse_forw, pullbacks::scatter_pullback>(
          "scatter"),
      {"cumprod",
       {{}},
       {{{3, 5, 4}}, {{1, 7, 1}}, {{2, 6, 700}}},
       [](const Tensors& x) { return cumprod(x[0], 1); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         pullbacks::cumprod_pullback(x[0], 1, std::move(d_y), d[0]);
       }},
  };
}

/// Of log-probabilities that are those of scores [T, N, C], as PyTorch takes them.
Operation ctc() {
  const auto steps = [](const Tensor& x) {
    Tensor lengths = full({x.size(1)}, static_cast<double>(x.size(0)), DType::int32);
    lengths.data<int32_t>()[0] -= 1;
    return lengths;
  };
  // Without the blank 0.
  const auto labels = [](const Tensor& drawn) { return (drawn.to(DType::float32) + 1).to(DType::int32); };
  const auto counts = [](const Tensor& labels) {
    Tensor lengths = full({labels.size(0)}, static_cast<double>(labels.size(1)), DType::int32);
    lengths.data<int32_t>()[labels.size(0) - 1] -= 1;
    return lengths;
  };
  return {"ctc_loss",
          {{"scores"}, {"labels", 0, 0, 3}},
          {{{9, 3, 4}, {3, 4}}, {{2, 1, 4}, {1, 1}}, {{6, 2, 5}, {2, 2}}},
          [=](const Tensors& x) {
            return ctc_loss(log_softmax(x[0]), labels(x[1]), steps(x[0]), counts(x[1]),
                            {.reduction = Reduction::none});
          },
          [=](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<CTCState> state;
            State<OutputState> scores;
            const Tensor y = pullbacks::log_softmax_reverse_forw(x[0], scores);
            pullbacks::detail::ctc_losses_reverse_forw(y, labels(x[1]), steps(x[0]), counts(x[1]), 0, state);
            Tensor d_log;
            pullbacks::detail::ctc_losses_pullback(y, labels(x[1]), steps(x[0]), counts(x[1]), 0,
                                                   std::move(d_y), d[0] ? &d_log : nullptr, nullptr, nullptr,
                                                   nullptr, state);
            pullbacks::log_softmax_pullback({}, d_log, d[0], scores);
          },
          0,
          false,
          false};
}

}  // namespace

std::vector<Operation> operations_with_indices() {
  std::vector<Operation> all = choices();
  for (const Operation& operation : places()) all.push_back(operation);
  all.push_back(ctc());
  for (Operation& operation : all) operation.on_devices = false;
  return all;
}

}  // namespace cladtorch::testing
