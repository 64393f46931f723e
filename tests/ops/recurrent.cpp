// Recurrent networks: one step, and all steps.
#include "cladtorch/ops/ops.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

/// The results one behind the other.
Tensor together(const RecurrentResult& y) {
  std::vector<Tensor> parts{y.output, y.h.unsqueeze(0)};
  if (y.c.defined()) parts.push_back(y.c.unsqueeze(0));
  return cat(parts);
}
RecurrentResult apart(const Tensor& d_y, int64_t steps) {
  if (!d_y.defined()) return {};
  RecurrentResult parts{d_y.narrow(0, 0, steps), d_y.select(0, steps), Tensor()};
  if (d_y.size(0) > steps + 1) parts.c = d_y.select(0, steps + 1);
  return parts;
}

Operation lstm_sequence(const char* name, std::vector<std::vector<Shape>> cases, const Tensor& lengths,
                        bool backward) {
  return {name,
          {{"from_x"}, {"weight"}, {"bias"}, {"h"}, {"c"}},
          std::move(cases),
          [=](const Tensors& x) {
            return together(cladtorch::lstm_sequence(x[0], x[1], x[2], x[3], x[4], lengths, backward));
          },
          [=](const Tensors& x, const Tensor& d_y, const Gradients& d) {
            State<SequenceState> state;
            pullbacks::lstm_sequence_reverse_forw(x[0], x[1], x[2], x[3], x[4], lengths, backward, state);
            pullbacks::lstm_sequence_pullback({}, x[1], x[2], x[3], x[4], lengths, backward,
                                              apart(d_y, x[0].size(0)), d[0], d[1], d[2], d[3], d[4], nullptr,
                                              state);
          },
          0,
          true,
          true,
          false};
}

template <auto forward, auto reverse_forw, auto pullback>
Operation sequence(const char* name, std::vector<std::vector<Shape>> cases, const Tensor& lengths,
                   bool backward) {
  return {name,
          {{"from_x"}, {"weight"}, {"bias"}, {"h"}},
          std::move(cases),
          [=](const Tensors& x) { return together(forward(x[0], x[1], x[2], x[3], lengths, backward)); },
          [=](const Tensors& x, const Tensor& d_y, const Gradients& d) {
            State<SequenceState> state;
            reverse_forw(x[0], x[1], x[2], x[3], lengths, backward, state);
            pullback({}, x[1], x[2], x[3], lengths, backward, apart(d_y, x[0].size(0)), d[0], d[1], d[2],
                     d[3], nullptr, state);
          },
          0,
          true,
          true,
          false};
}
constexpr auto gru_sequence =
    sequence<cladtorch::gru_sequence, pullbacks::gru_sequence_reverse_forw, pullbacks::gru_sequence_pullback>;
constexpr auto rnn_sequence =
    sequence<cladtorch::rnn_sequence, pullbacks::rnn_sequence_reverse_forw, pullbacks::rnn_sequence_pullback>;

}  // namespace

std::vector<Operation> recurrent_operations() {
  // Of sequences that end at different steps.
  const Tensor lengths = from_values<int32_t>({3}, {4, 0, 2});
  return {
      {"lstm_cell",
       {{"from_x"}, {"from_h"}, {"c"}},
       {{{3, 20}, {3, 20}, {3, 5}}, {{70, 200}, {70, 200}, {70, 50}}},
       [](const Tensors& x) {
         const LstmStep y = lstm_cell(x[0], x[1], x[2]);
         return cat({y.h, y.c});
       },
       [](const Tensors& x, const Tensor& d_y, const Gradients& d) {
         State<LstmCellState> state;
         pullbacks::lstm_cell_reverse_forw(x[0], x[1], x[2], state);
         LstmStep d_step;
         if (d_y.defined()) d_step = {d_y.slice(0, 0, x[2].size(0)), d_y.slice(0, x[2].size(0), d_y.size(0))};
         pullbacks::lstm_cell_pullback({}, {}, x[2], d_step, d[0], d[1], d[2], state);
       },
       0,
       true,
       true,
       false},
      {"gru_cell",
       {{"from_x"}, {"from_h"}, {"h"}},
       {{{3, 15}, {3, 15}, {3, 5}}, {{0, 6}, {0, 6}, {0, 2}}, {{70, 150}, {70, 150}, {70, 50}}},
       [](const Tensors& x) { return gru_cell(x[0], x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         State<GruCellState> state;
         pullbacks::gru_cell_reverse_forw(x[0], x[1], x[2], state);
         pullbacks::gru_cell_pullback({}, x[1], x[2], std::move(d_y), d[0], d[1], d[2], state);
       },
       0,
       true,
       true,
       false},
      lstm_sequence("lstm_sequence",
                    {{{4, 3, 20}, {20, 5}, {20}, {3, 5}, {3, 5}},
                     {{2, 70, 76}, {76, 19}, {76}, {70, 19}, {70, 19}},
                     {{1, 0, 8}, {8, 2}, {8}, {0, 2}, {0, 2}}},
                    {}, false),
      lstm_sequence("lstm_sequence_padded", {{{5, 3, 20}, {20, 5}, {20}, {3, 5}, {3, 5}}}, lengths, true),
      gru_sequence("gru_sequence",
                   {{{4, 3, 15}, {15, 5}, {15}, {3, 5}}, {{2, 70, 57}, {57, 19}, {57}, {70, 19}}}, {}, true),
      gru_sequence("gru_sequence_padded", {{{5, 3, 15}, {15, 5}, {15}, {3, 5}}}, lengths, false),
      rnn_sequence("rnn_sequence",
                   {{{4, 3, 5}, {5, 5}, {5}, {3, 5}}, {{2, 70, 19}, {19, 19}, {19}, {70, 19}}}, {}, false),
      rnn_sequence("rnn_sequence_padded", {{{5, 3, 5}, {5, 5}, {5}, {3, 5}}}, lengths, true),
  };
}

}  // namespace cladtorch::testing
