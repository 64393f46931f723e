// How the steps of a run are computed on one kind of device.
#pragma once

#include <cstdint>
#include <memory>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/tensor/workspace.h"
#include "cladtorch/train/optimizer.h"
#include "train/step/step_numbers.h"

namespace cladtorch::train {

/// What a training step works on, all on one device.
struct StepParts {
  std::unique_ptr<LanguageModel> master;    ///< the float32 weights to which updates are applied
  std::unique_ptr<LanguageModel> model;     ///< the model that computes
  Tensor gradient_memory;                   ///< where all gradients lie, one after the other
  std::unique_ptr<LanguageModel> gradient;  ///< of the parameters that are not frozen
  TensorList gradients;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Float8Layers> float8;  ///< null where the model has no layers in 8 bits
  Workspace& workspace;                  ///< in which training and evaluation take turns

  Device device() const { return model->device(); }
};

class StepEngine {
 public:
  virtual ~StepEngine() = default;

  /// Plans the memory of add() for such tokens, and changes nothing.
  virtual void plan(const Tensor& tokens, const Tensor& targets) = 0;
  /// Adds `weight` times the gradient of micro-batch `number`, which with the seed decides the masks of
  /// dropout; tokens and targets are on the CPU and may be reused.
  virtual void add(const Tensor& tokens, const Tensor& targets, double weight, uint64_t seed,
                   uint64_t number) = 0;
  /// The micro-batches of a leaf are complete.
  virtual void end_leaf() = 0;
  /// The leaves of this rank are complete: the gradients become the sums over all leaves; with several ranks
  /// those of its share, or if `whole`, all.
  virtual void sum_leaves(bool whole) = 0;
  /// Updates the parameters from what was added, divided by `weight`, clipped to a norm of `clip` unless that
  /// is 0. A loss or norm that is not finite updates nothing, now and later.
  virtual void finish(double weight, double clip) = 0;
  /// A tensor of the optimizer's state with the shares of all ranks, on the first rank; nothing on the
  /// others.
  virtual Tensor state_on_first(const TensorList& state, size_t tensor) = 0;
  /// Of the oldest step that was finished and not read; waits for it.
  virtual StepOutput read() = 0;
  /// Whether a step may begin before the one before it is read.
  virtual bool runs_ahead() const = 0;
};

/// For the CPU, where each call returns when its work is done. The gradient of a step is that of `leaves`
/// leaves, which `ranks` share.
std::unique_ptr<StepEngine> host_step(StepParts& parts, comm::Communicator& ranks, int64_t leaves);
/// For a CUDA device, for which the host does not wait; of one rank and one leaf.
std::unique_ptr<StepEngine> device_step(StepParts& parts);

}  // namespace cladtorch::train
