#include <deque>

#include "cladtorch/ops/dropout.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {
namespace {

class HostStep : public StepEngine {
 public:
  explicit HostStep(StepParts& parts) : parts_(parts) {}

  void plan(const Tensor& tokens, const Tensor& targets) override {
    gradient_of(tokens, targets, 1, 0, 0);
    parts_.gradients.mark_zero();
    if (parts_.float8) parts_.float8->forget_step();
  }
  void add(const Tensor& tokens, const Tensor& targets, double weight, uint64_t seed,
           uint64_t number) override {
    loss_ += gradient_of(tokens, targets, weight, seed, number);
  }
  void finish(double weight, double clip) override {
    const StepOutput output = finished_step(loss_, parts_.gradients.norm(), weight, clip, stopped_);
    stopped_ = std::isnan(output.gradient_scale);
    if (!stopped_) {
      parts_.optimizer->step(parts_.gradients, output.gradient_scale);
      if (parts_.float8) parts_.float8->finish_step();
    }
    loss_ = 0;
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
  double loss_ = 0;  // of the micro-batches, each times its weight
  bool stopped_ = false;
  std::deque<StepOutput> done_;
};

}  // namespace

std::unique_ptr<StepEngine> host_step(StepParts& parts) { return std::make_unique<HostStep>(parts); }

}  // namespace cladtorch::train
