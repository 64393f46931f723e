// A training step on a CUDA device for which the host does not wait: its loss and norm are read a step late.
// Once memory is planned, each part of it is a graph that is launched as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "cladtorch/models/language_model.h"
#include "cladtorch/tensor/workspace.h"
#include "cladtorch/train/optimizer.h"
#include "tensor/device_graph.h"
#include "tensor/readback.h"
#include "train/optimizer_on_device.h"

namespace cladtorch::train {

class DeviceStep {
 public:
  /// Everything but the tokens lies on one CUDA device, and outlives this. `float8` is null where the model
  /// has no layers in 8 bits.
  DeviceStep(const LanguageModel& model, LanguageModel& gradient, TensorList& gradients, Optimizer& optimizer,
             Float8Layers* float8, Workspace& workspace);

  /// Plans the memory of add() for such tokens without taking any.
  void plan(const Tensor& tokens, const Tensor& targets);
  /// Adds `weight` times the gradient of micro-batch `number`, which with the seed decides the masks of
  /// dropout; tokens and targets are on the CPU and may be reused.
  void add(const Tensor& tokens, const Tensor& targets, double weight, uint64_t seed, uint64_t number);
  /// Updates the parameters from what was added, divided by `weight`, clipped to a norm of `clip` unless that
  /// is 0. A loss or norm that is not finite updates nothing, now and later.
  void finish(double weight, double clip);

  /// Of the oldest step that was finished and not read; waits for it.
  StepOutput read();

 private:
  /// A part of a step: run as it is at first, then captured, then launched.
  struct Part {
    int runs = 0;  ///< that followed the plan of memory
    std::unique_ptr<detail::DeviceGraph> graph;
    int64_t moves = 0;            ///< of the arena when it was captured
    std::vector<Tensor> written;  ///< buffers that were marked zero and get their first contribution
  };
  void run(Part& part, detail::ThreadBody work);
  void capture(Part& part, detail::ThreadBody work);
  bool is_planned() const;

  void take_shapes(const Tensor& tokens, const Tensor& targets);
  void queue_gradient(uint64_t seed, uint64_t number);
  void queue_update();
  std::unique_ptr<detail::Readback> unused_readback();

  const LanguageModel& model_;
  LanguageModel& gradient_;
  TensorList& gradients_;
  Optimizer& optimizer_;
  Float8Layers* float8_;
  Workspace& workspace_;
  Device device_;
  Tensor tokens_, targets_, number_;  // there
  LossSum loss_;
  OptimizerTables tables_;
  Tensor input_, output_, sums_;
  Part first_, later_, update_;  // the first micro-batch stores gradients, the later ones add
  bool is_first_ = true;
  std::deque<std::unique_ptr<detail::Readback>> unread_;
  std::vector<std::unique_ptr<detail::Readback>> unused_;
};

}  // namespace cladtorch::train
