// Losses: tensors with one element.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Mean over rows of -log softmax(logits)[target]: logits [..., V], int32 targets [...]. Rows whose target is
/// `ignore_index` count neither in the sum nor in the mean; if all are ignored the result is 0. Throws Error
/// for any other target outside [0, V).
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore_index = -100);

/// Mean of (prediction - target)^2; equal shapes.
Tensor mse_loss(const Tensor& prediction, const Tensor& target);

struct CrossEntropyState {
  Tensor log_sum_exp;   ///< [rows]
  int64_t counted = 0;  ///< rows that are not ignored
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::CrossEntropyState;
using ::cladtorch::Tensor;

Tensor cross_entropy_reverse_forw(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                  pullback_state<CrossEntropyState>& state);
/// d_targets is left alone: integers have no derivative.
void cross_entropy_pullback(const Tensor& logits, const Tensor& targets, int64_t ignore_index, Tensor d_y,
                            Tensor* d_logits, Tensor* d_targets, pullback_state<CrossEntropyState>& state);

void mse_loss_pullback(const Tensor& prediction, const Tensor& target, Tensor d_y, Tensor* d_prediction,
                       Tensor* d_target);
}  // namespace clad::custom_derivatives::cladtorch
