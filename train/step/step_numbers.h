// What one training step is told and what it says, on the host and on devices.
#pragma once

#include <cmath>

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::train {

/// What the host says of a step, in double on a device: one array, so that one copy carries it.
struct StepInput {
  double step_size;     ///< lr / (1 - beta1^steps)
  double second_scale;  ///< 1 / sqrt(1 - beta2^steps)
  double decay;         ///< lr * weight_decay
  double clip;          ///< largest norm of the mean gradient, or 0
  double weight;        ///< what the sums of losses and gradients are divided by
  double step;          ///< number of the step, for random numbers
};

/// What the step says.
struct StepOutput {
  double loss;  ///< mean over the step's targets
  double norm;  ///< of the gradient, before clipping
  /// What the gradients are multiplied by: the mean over targets and the clipping in one. NaN when the loss
  /// or the norm is not finite: then parameters and state stay as they are, now and ever after.
  double gradient_scale;
};

/// From the sums over micro-batches of losses and gradients, of which `norm` is the length. `stopped`: an
/// earlier step was not finite.
CLADTORCH_HOST_DEVICE inline StepOutput finished_step(double loss, double norm, double weight, double clip,
                                                      bool stopped) {
  const double mean = loss / weight, length = norm / weight;
  const double clipping = clip > 0 && length > clip ? clip / length : 1;
  const bool finite = !stopped && std::isfinite(mean) && std::isfinite(length);
  return {mean, length, finite ? clipping / weight : NAN};
}

}  // namespace cladtorch::train
