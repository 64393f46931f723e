// Recurrent networks, on the CPU: all steps of one, or one step. The linear parts of the inputs are a product
// of their own, which can be one for all steps.
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

/// What a recurrent network returns: the states h after each step [T, N, H] and after the last one [N, H]; c
/// of an LSTM alone. Those of several layers lie side by side: [T, N, 2 H] of both directions, and the last
/// ones [layers x directions, N, H].
struct RecurrentResult {
  Tensor output, h, c;
};

/// All steps of an LSTM, a GRU and a network of tanh: one step takes from_x[t] of from_x [T, N, gates H] and
/// h weight^T + bias, with weight [gates H, H] and bias [gates H], or undefined, and does what lstm_cell and
/// gru_cell do, or returns the tanh of their sum. `h` and `c` [N, H] are the states before the first step,
/// undefined for zeros. With `lengths` int32 or int64 [N], sequence n has lengths[n] steps: what follows is 0
/// in the output and does not change the states. If `backward`, the last step comes first. Each sequence is
/// computed by one thread. Throws Error if shapes or dtypes do not fit, or a length is not in 0..T.
RecurrentResult lstm_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                              const Tensor& c, const Tensor& lengths = {}, bool backward = false);
RecurrentResult gru_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                             const Tensor& lengths = {}, bool backward = false);
RecurrentResult rnn_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                             const Tensor& lengths = {}, bool backward = false);

/// For each step, in float for bfloat16: the gates after their nonlinearities, the states before it, and of a
/// GRU the part of h.
struct SequenceState {
  Tensor gates, h, c, from_h;
};

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
using ::cladtorch::RecurrentResult;
using ::cladtorch::SequenceState;
using ::cladtorch::Tensor;

RecurrentResult lstm_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                           const Tensor& h, const Tensor& c, const Tensor& lengths,
                                           bool backward, pullback_state<SequenceState>& state);
void lstm_sequence_pullback(CLAD_UNUSED const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                            const Tensor& h, const Tensor& c, const Tensor& lengths, bool backward,
                            RecurrentResult d_y, Tensor* d_from_x, Tensor* d_weight, Tensor* d_bias,
                            Tensor* d_h, Tensor* d_c, Tensor* d_lengths,
                            pullback_state<SequenceState>& state);

RecurrentResult gru_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& h, const Tensor& lengths, bool backward,
                                          pullback_state<SequenceState>& state);
void gru_sequence_pullback(CLAD_UNUSED const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                           const Tensor& h, const Tensor& lengths, bool backward, RecurrentResult d_y,
                           Tensor* d_from_x, Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor* d_lengths,
                           pullback_state<SequenceState>& state);

RecurrentResult rnn_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& h, const Tensor& lengths, bool backward,
                                          pullback_state<SequenceState>& state);
void rnn_sequence_pullback(CLAD_UNUSED const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                           const Tensor& h, const Tensor& lengths, bool backward, RecurrentResult d_y,
                           Tensor* d_from_x, Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor* d_lengths,
                           pullback_state<SequenceState>& state);

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
