#include <deque>
#include <vector>

#include "cladtorch/ops/dropout.h"
#include "train/step/leaf_sums.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {
namespace {

class HostStep : public StepEngine {
 public:
  HostStep(StepParts& parts, comm::Communicator& ranks, int64_t leaves)
      : parts_(parts), ranks_(ranks), sums_(ranks, leaves, parts.gradients, parts.gradient_memory) {}

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
  void sum_leaves() override { sums_.finish("the gradient of the step"); }
  void finish(double weight, double clip) override {
    const double loss = sum_in_order(ranks_, losses_, "the loss of the step");
    const StepOutput output = finished_step(loss, parts_.gradients.norm(), weight, clip, stopped_);
    stopped_ = std::isnan(output.gradient_scale);
    if (!stopped_) {
      parts_.optimizer->step(parts_.gradients, output.gradient_scale);
      if (parts_.float8) parts_.float8->finish_step();
    }
    losses_.clear();
    done_.push_back(output);
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

  StepParts& parts_;
  comm::Communicator& ranks_;
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
