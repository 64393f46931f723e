// The loss of sequences of labels whose places are not known.
#pragma once

#include "cladtorch/ops/comparison.h"
#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/indexing.h"

namespace cladtorch {

struct CTCOptions {
  int64_t blank = 0;                      ///< the class that is no label
  Reduction reduction = Reduction::mean;  ///< each loss is divided by its number of labels first
  bool zero_infinity = false;             ///< counts sequences as 0 that are too short for their labels
};

namespace detail {
/// Each sequence's loss, [N].
Tensor ctc_losses(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                  const Tensor& target_lengths, int64_t blank);
/// The number of labels of each sequence, 1 at least: [N].
CLAD_NONDIFFERENTIABLE Tensor label_counts(const Tensor& target_lengths, DType dtype);
}  // namespace detail

/// -log of the probability that sequence n of log-probabilities [T, N, C] of classes, of which the first
/// input_lengths[n] steps count, spells its labels: target_lengths[n] of them in row n of targets [N, S], or
/// behind one another in targets [sum of the lengths]. A label may last for several steps, and blanks may be
/// between labels, and must be between equal ones. Lengths [N] and targets are int32 or int64. float32 or
/// float64, computed in double on the CPU. Source: Graves et al., "Connectionist temporal classification",
/// 2006.
///
/// The loss of a sequence that is too short for its labels is infinite. It has no derivative, which is an
/// Error unless zero_infinity is set. The derivative is that by any numbers in place of the
/// log-probabilities; PyTorch's takes them to come from log_softmax, behind which both are the same.
inline Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, const CTCOptions& options = {}) {
  Tensor losses =
      detail::ctc_losses(log_probabilities, targets, input_lengths, target_lengths, options.blank);
  if (options.zero_infinity) losses = where(isinf(losses), 0, losses);
  if (options.reduction == Reduction::mean)
    return mean(losses / detail::label_counts(target_lengths, losses.dtype()));
  return reduced(losses, options.reduction);
}

struct CTCState {
  Tensor forward;  ///< [N, T, 2 S + 1], of float64
  Tensor losses;   ///< [N], of float64
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch::detail {
using ::cladtorch::CTCState;
using ::cladtorch::Tensor;

Tensor ctc_losses_reverse_forw(const Tensor& log_probabilities, const Tensor& targets,
                               const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                               pullback_state<CTCState>& state);
/// The gradients of targets and lengths are left alone.
void ctc_losses_pullback(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                         const Tensor& target_lengths, int64_t blank, Tensor d_y, Tensor* d_log_probabilities,
                         Tensor* d_targets, Tensor* d_input_lengths, Tensor* d_target_lengths,
                         pullback_state<CTCState>& state);
}  // namespace clad::custom_derivatives::cladtorch::detail
