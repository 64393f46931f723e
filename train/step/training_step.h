// One training step on any device: the gradients of micro-batches, their norm, and the update.
#pragma once

#include <functional>

#include "cladtorch/train/config.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(TensorList parameters, TensorList masters)>;

/// Owns a model that is trained and all that its steps need. The calls of a step are add() for each
/// micro-batch, sum_leaves(), finish() and, now or a step later, read().
class TrainingStep {
 public:
  /// `master` lies in float32 where the steps are computed; the model that computes is its copy in the dtype
  /// of `precision`. `workspace` outlives this.
  /// Throws Error where ranks cannot share steps: on a CUDA device, or with layers in 8 bits.
  TrainingStep(std::unique_ptr<LanguageModel> master, const Precision& precision, const MakeOptimizer& make,
               Workspace& workspace, const Sharing& sharing = {});
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  // See StepEngine.
  void plan(const Tensor& tokens, const Tensor& targets) { engine_->plan(tokens, targets); }
  std::span<const int64_t> leaves() const { return engine_->leaves(); }
  void add(const MicroBatch& batch) { engine_->add(batch); }
  void sum_leaves(bool whole, RankWord word = {}) { engine_->sum_leaves(whole, word); }
  std::span<const RankWord> words() const { return engine_->words(); }
  double weight() const { return engine_->weight(); }
  void read_state(const std::function<void()>& read) { engine_->read_state(read); }
  Tensor whole_state(const TensorList& state, size_t tensor) { return engine_->whole_state(state, tensor); }
  void finish(double clip) { engine_->finish(clip); }
  void do_beside(std::function<void()> job) { engine_->do_beside(std::move(job)); }
  void finish_beside() { engine_->finish_beside(); }
  StepOutput read() { return engine_->read(); }
  bool runs_ahead() const { return engine_->runs_ahead(); }

  /// The mean loss of a batch, without a gradient.
  double loss(const Tensor& tokens, const Tensor& targets) const;
  /// The same with the gradient of this batch alone, which stays in gradient(); returns when it is there.
  double loss_and_gradient(const Tensor& tokens, const Tensor& targets, uint64_t seed, uint64_t number);

  /// Bytes of activations that a step on a batch of this shape would take, with recomputation or without. On
  /// a CUDA device this runs nothing.
  size_t plan_activations(const Shape& batch, bool gradient_checkpointing);

  LanguageModel& model() { return *parts_.model; }
  const LanguageModel& model() const { return *parts_.model; }
  const LanguageModel& master() const { return *parts_.master; }
  const LanguageModel& gradient() const { return *parts_.gradient; }
  TensorList& gradients() { return parts_.gradients; }
  const TensorList& gradients() const { return parts_.gradients; }
  Optimizer& optimizer() { return *parts_.optimizer; }
  const Optimizer& optimizer() const { return *parts_.optimizer; }
  Float8Layers* float8() { return parts_.float8.get(); }
  Device device() const { return parts_.device(); }

  /// The weights, once nothing else of this is needed.
  std::unique_ptr<LanguageModel> release_master() { return std::move(parts_.master); }

 private:
  StepParts parts_;
  std::unique_ptr<StepEngine> engine_;
};

}  // namespace cladtorch::train
