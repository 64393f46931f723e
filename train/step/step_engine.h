// How the steps of a run are computed on one kind of device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

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

/// One of those that make up a step.
struct MicroBatch {
  const Tensor &tokens, &targets;  ///< [batch, context] int32 on the CPU; they may be reused
  double weight = 1;               ///< what its loss and gradient are multiplied by; none is computed for 0
  uint64_t seed = 0, number = 0;   ///< which decide the masks of dropout
  bool ends_leaf = true;           ///< it is the last of its leaf
};

/// What a rank tells all others in a step.
struct RankWord {
  double seconds = 0;     ///< that its gradients took to compute
  double waited = 0;      ///< seconds that it then waited for the others
  double wants_stop = 0;  ///< 1 if somebody asked it to stop
  double steps = 0;       ///< length that it would give the run
};

class StepEngine {
 public:
  virtual ~StepEngine() = default;

  /// Plans the memory of add() for such tokens, and changes nothing.
  virtual void plan(const Tensor& tokens, const Tensor& targets) = 0;
  /// The leaves of this rank, in order.
  virtual std::span<const int64_t> leaves() const = 0;
  /// Adds the gradient of a micro-batch.
  virtual void add(const MicroBatch& batch) = 0;
  /// The leaves of this rank are complete: the gradients become the sums over all leaves; with several ranks
  /// those of its share, or if `whole`, all. Each rank tells all `word`.
  virtual void sum_leaves(bool whole, RankWord word) = 0;
  /// What the ranks told.
  virtual std::span<const RankWord> words() const = 0;
  /// The sum of the weights of all micro-batches that were added, or 1 if that is 0.
  virtual double weight() const = 0;
  /// Updates the parameters from what was added, divided by weight(), clipped to a norm of `clip` unless that
  /// is 0. A loss or norm that is not finite updates nothing, now and later.
  virtual void finish(double clip) = 0;
  /// Does a job that reads parameters and the optimizer's state, if possible while gradients are computed,
  /// and at the latest before finish() changes them or sum_leaves() tells ranks anything; throws there what
  /// it throws. All ranks do it at the same time, and may send messages in it.
  virtual void do_beside(std::function<void()> job) = 0;
  /// Returns when such jobs are done.
  virtual void finish_beside() = 0;
  /// All ranks call it at the same time, in a job as those of do_beside(): the first does `read`, in which it
  /// may read all masters of the optimizer and call whole_state().
  virtual void read_state(const std::function<void()>& read) = 0;
  /// A tensor of the optimizer's state with the shares of all ranks.
  virtual Tensor whole_state(const TensorList& state, size_t tensor) = 0;
  /// Of the oldest step that was finished and not read; waits for it.
  virtual StepOutput read() = 0;
  /// Whether a step may begin before the one before it is read.
  virtual bool runs_ahead() const = 0;
};

/// How `ranks` share a step, whose gradient is that of `leaves` leaves.
struct Sharing {
  comm::Communicator& ranks = comm::self();
  int64_t leaves = 1;
  int zero = 1;  ///< what ranks share of the memory: 0 nothing, 1 the optimizer's state, 2 also the gradients
  bool overlap = true;                ///< gradients are sent during the backward pass
  int64_t bucket_elements = 1 << 23;  ///< that are sent at once
};

/// For the CPU, where each call returns when its work is done.
std::unique_ptr<StepEngine> host_step(StepParts& parts, const Sharing& sharing);
/// For a CUDA device, for which the host does not wait; of one rank and one leaf.
std::unique_ptr<StepEngine> device_step(StepParts& parts);

}  // namespace cladtorch::train
