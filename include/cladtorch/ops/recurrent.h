// One step of recurrent networks, on the CPU. The linear parts are products of their own, of which those of
// all inputs can be one.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// What an LSTM hands to its next step, [N, H] each.
struct LstmStep {
  Tensor h, c;
};

/// With the gates i, f, g, o of from_x + from_h [N, 4H], c' = sigmoid(f) c + sigmoid(i) tanh(g) and
/// h' = sigmoid(o) tanh(c'). Source: Hochreiter and Schmidhuber, 1997, in the form of torch.nn.LSTM.
LstmStep lstm_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& c);

/// With the parts r, z, n of from_x and from_h [N, 3H], n' = tanh(n_x + sigmoid(r_x + r_h) n_h) and
/// h' = (1 - z') n' + z' h for z' = sigmoid(z_x + z_h). Source: Cho et al., 2014, in the form of
/// torch.nn.GRU.
Tensor gru_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& h);

/// The gates after their nonlinearities, and tanh(c').
struct LstmCellState {
  Tensor gates, tanh_c;
};
/// r', z' and n'.
struct GruCellState {
  Tensor gates;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::GruCellState;
using ::cladtorch::LstmCellState;
using ::cladtorch::LstmStep;
using ::cladtorch::Tensor;

LstmStep lstm_cell_reverse_forw(const Tensor& from_x, const Tensor& from_h, const Tensor& c,
                                pullback_state<LstmCellState>& state);
void lstm_cell_pullback(CLAD_UNUSED const Tensor& from_x, CLAD_UNUSED const Tensor& from_h, const Tensor& c,
                        LstmStep d_y, Tensor* d_from_x, Tensor* d_from_h, Tensor* d_c,
                        pullback_state<LstmCellState>& state);

Tensor gru_cell_reverse_forw(const Tensor& from_x, const Tensor& from_h, const Tensor& h,
                             pullback_state<GruCellState>& state);
void gru_cell_pullback(CLAD_UNUSED const Tensor& from_x, const Tensor& from_h, const Tensor& h, Tensor d_y,
                       Tensor* d_from_x, Tensor* d_from_h, Tensor* d_h, pullback_state<GruCellState>& state);
}  // namespace clad::custom_derivatives::cladtorch
