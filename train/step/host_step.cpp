#include <deque>
#include <vector>

#include "cladtorch/ops/dropout.h"
#include "train/step/leaf_sums.h"
#include "train/step/shares.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {
namespace {

class HostStep : public StepEngine {
 public:
  HostStep(StepParts& parts, comm::Communicator& ranks, int64_t leaves)
      : parts_(parts),
        ranks_(ranks),
        shares_(parts.gradients, ranks.size()),
        sums_(ranks, leaves, parts.gradients, parts.gradient_memory, shares_) {
    if (ranks.size() == 1 || !parts.optimizer->can_share()) return;
    const auto [first, last] = shares_.pieces(ranks.rank());
    parts.optimizer->set_share({first, last});
  }

  void plan(const Tensor& tokens, const Tensor& targets) override {
    gradient_of(tokens, targets, 1, 0, 0);
    parts_.gradients.mark_zero();
    if (parts_.float8) parts_.float8->forget_step();
  }
  void add(const Tensor& tokens, const Tensor& targets, double weight, uint64_t seed,
           uint64_t number) override {
    losses_.push_back(gradient_of(tokens, targets, weight, seed, number));
  }
  void end_leaf() override { sums_.end_leaf(); }
  void sum_leaves(bool whole) override {
    sums_.finish(whole || !parts_.optimizer->can_share(), "the gradient of the step");
  }
  void finish(double weight, double clip) override {
    const double loss = sum_in_order(ranks_, losses_, "the loss of the step");
    const StepOutput output = finished_step(loss, norm(), weight, clip, stopped_);
    stopped_ = std::isnan(output.gradient_scale);
    if (!stopped_) {
      parts_.optimizer->step(parts_.gradients, output.gradient_scale);
      if (parts_.float8) parts_.float8->finish_step();
      if (ranks_.size() > 1 && parts_.optimizer->can_share())
        parts_.optimizer->gather_parameters(ranks_, shares_);
    } else {
      parts_.gradients.mark_zero();
    }
    losses_.clear();
    done_.push_back(output);
  }
  Tensor state_on_first(const TensorList& state, size_t tensor) override {
    if (ranks_.size() == 1 || !parts_.optimizer->can_share()) return state[tensor].tensor;
    return shares_.on_first(ranks_, state[tensor].tensor, tensor, "the state of the optimizer");
  }
  StepOutput read() override {
    const StepOutput output = done_.front();
    done_.pop_front();
    return output;
  }
  bool runs_ahead() const override { return false; }

 private:
  double gradient_of(const Tensor& tokens, const Tensor& targets, double weight, uint64_t seed,
                     uint64_t number) {
    const Workspace::Step scope(parts_.workspace);
    const TrainingScope training(seed, number);
    return parts_.model->loss_and_gradient(tokens, targets, *parts_.gradient, weight);
  }

  /// Each rank adds the squares of its share.
  double norm() {
    if (ranks_.size() == 1) return parts_.gradients.norm();
    const auto [first, last] = shares_.pieces(ranks_.rank());
    return std::sqrt(sum_in_order(ranks_, parts_.gradients.squares(first, last), "the norm of the gradient"));
  }

  StepParts& parts_;
  comm::Communicator& ranks_;
  Shares shares_;  // of the parameters, by rank
  LeafSums sums_;
  std::vector<double> losses_;  // of this rank's micro-batches, each times its weight
  bool stopped_ = false;
  std::deque<StepOutput> done_;
};

}  // namespace

std::unique_ptr<StepEngine> host_step(StepParts& parts, comm::Communicator& ranks, int64_t leaves) {
  return std::make_unique<HostStep>(parts, ranks, leaves);
}

}  // namespace cladtorch::train
