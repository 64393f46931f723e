// Losses, which are tensors with one element. Losses of bfloat16 operands are float32, because bfloat16 would
// leave only three digits.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Mean over rows of -log softmax(logits)[target]: logits [..., V], integer targets [...]. Rows whose target
/// is `ignore_index` count neither in the sum nor in the mean; if all are ignored the result is 0. Throws
/// Error for any other target outside [0, V). On a CUDA device the host does not check targets; such a target
/// makes the result and its row's gradient NaN.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore_index = -100);

/// The same for log-probabilities: the mean of -log_probabilities[target]. cross_entropy(x, t) is
/// nll_loss(log_softmax(x), t).
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& targets, int64_t ignore_index = -100);

/// cross_entropy(linear(x, weight), targets) for x [..., C], weight [V, C] and integer targets [...], without
/// storing the scores [..., V]: it scores a bounded block of rows at a time, and skips ignored rows. On CUDA
/// devices, for whose results the host does not wait, a target that is out of range makes the loss NaN
/// instead of throwing Error.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index = -100);

/// Mean of (prediction - target)^2; equal shapes.
Tensor mse_loss(const Tensor& prediction, const Tensor& target);

/// The sum of the losses of micro-batches, each times its weight, on the device that computes them. The host
/// reads the sum when it needs it.
struct LossSum {
  Tensor total;   ///< a gradient buffer; mark_zero() begins a new sum
  Tensor weight;  ///< at first 1
  /// `dtype` is the dtype of the losses.
  LossSum(DType dtype, Device device);
  /// total += weight * loss, which derivatives ignore.
  CLAD_NONDIFFERENTIABLE void add(const Tensor& loss) const;
};

struct CrossEntropyState {
  Tensor log_sum_exp;   ///< [rows]
  int64_t counted = 0;  ///< rows that are not ignored; on a CUDA device instead:
  Tensor share;         ///< [], 1 / that number, or 1 if all are ignored
};

struct LinearCrossEntropyState {
  Shape weight_shape;
  double factor = 0;                             ///< 1 / rows that are not ignored
  Tensor d_x;                                    ///< for a cotangent of 1
  bool x_frozen = false, weight_frozen = false;  ///< nothing is kept for the gradient of a frozen weight
  Tensor d_weight;               ///< the same, unless all rows fit one block; then what makes it:
  Tensor x;                      ///< [rows, C], those that count
  Tensor targets;                ///< [rows]
  Tensor exponentials;           ///< [V, rows] of the scores
  Tensor row_factors;            ///< [rows]
  DType dtype = DType::float32;  ///< of x; on CUDA devices
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::CrossEntropyState;
using ::cladtorch::LinearCrossEntropyState;
using ::cladtorch::Tensor;

Tensor cross_entropy_reverse_forw(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                  pullback_state<CrossEntropyState>& state);
/// d_targets does not change, because integers have no derivative.
void cross_entropy_pullback(const Tensor& logits, const Tensor& targets, int64_t ignore_index, Tensor d_y,
                            Tensor* d_logits, Tensor* d_targets, pullback_state<CrossEntropyState>& state);

/// d_targets is left alone.
void nll_loss_pullback(const Tensor& log_probabilities, const Tensor& targets, int64_t ignore_index,
                       Tensor d_y, Tensor* d_log_probabilities, Tensor* d_targets);

Tensor linear_cross_entropy_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                         int64_t ignore_index,
                                         pullback_state<LinearCrossEntropyState>& state);
/// d_targets is left alone.
void linear_cross_entropy_pullback(CLAD_UNUSED const Tensor& x, CLAD_UNUSED const Tensor& weight,
                                   CLAD_UNUSED const Tensor& targets, int64_t ignore_index, Tensor d_y,
                                   Tensor* d_x, Tensor* d_weight, Tensor* d_targets,
                                   pullback_state<LinearCrossEntropyState>& state);

void mse_loss_pullback(const Tensor& prediction, const Tensor& target, Tensor d_y, Tensor* d_prediction,
                       Tensor* d_target);
}  // namespace clad::custom_derivatives::cladtorch
