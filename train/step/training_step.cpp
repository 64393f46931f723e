#include "train/step/training_step.h"

#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/dry_run.h"

namespace cladtorch::train {
namespace {

StepParts parts_of(std::unique_ptr<LanguageModel> master, const Precision& precision,
                   const MakeOptimizer& make, Workspace& workspace) {
  std::unique_ptr<LanguageModel> model = master->to(precision.dtype);
  std::unique_ptr<Float8Layers> float8 = precision.float8 ? float8_layers(*model) : nullptr;
  const DType dtype = model->dtype() == DType::bfloat16 ? DType::float32 : model->dtype();
  Tensor memory = Tensor::empty({model->gradient_elements()}, dtype, model->device());
  std::unique_ptr<LanguageModel> gradient = model->gradient_in(memory);
  TensorList gradients(gradient->parameters());
  std::unique_ptr<Optimizer> optimizer =
      make(TensorList(model->parameters()), TensorList(master->parameters()));
  return {std::move(master),    std::move(model),     std::move(memory), std::move(gradient),
          std::move(gradients), std::move(optimizer), std::move(float8), workspace};
}

}  // namespace

TrainingStep::TrainingStep(std::unique_ptr<LanguageModel> master, const Precision& precision,
                           const MakeOptimizer& make, Workspace& workspace, const Sharing& sharing)
    : parts_(parts_of(std::move(master), precision, make, workspace)) {
  const bool on_host = device().type == DeviceType::cpu;
  require(sharing.ranks.size() == 1 || on_host,
          "several ranks train on the CPU; set run.device=cpu, or start one process");
  require(sharing.leaves == 1 || on_host, "train.leaves is ", sharing.leaves,
          ", expected 1 on a CUDA device");
  engine_ = on_host ? host_step(parts_, sharing) : device_step(parts_);
}

double TrainingStep::loss(const Tensor& tokens, const Tensor& targets) const {
  const Workspace::Step scope(parts_.workspace);
  return parts_.model->loss(tokens, targets);
}

double TrainingStep::loss_and_gradient(const Tensor& tokens, const Tensor& targets, uint64_t seed,
                                       uint64_t number) {
  parts_.gradients.mark_zero();
  const TrainingScope training(seed, number);
  const Workspace::Step scope(parts_.workspace);
  const double loss = parts_.model->loss_and_gradient(tokens, targets, *parts_.gradient);
  if (device().type != DeviceType::cpu) synchronize(device());
  return loss;
}

size_t TrainingStep::plan_activations(const Shape& batch, bool gradient_checkpointing) {
  LanguageModel& model = *parts_.model;
  const bool before = model.gradient_checkpointing();
  model.set_gradient_checkpointing(gradient_checkpointing);
  const Tensor tokens = zeros(batch, DType::int32);
  const LossSum loss(parts_.gradients.dtype(), device());
  Workspace workspace;
  {
    const DryRun dry;
    const Workspace::Step step(workspace);
    model.add_loss_and_gradient(tokens, tokens, *parts_.gradient, loss);
  }
  parts_.gradients.mark_zero();
  model.set_gradient_checkpointing(before);
  return workspace.statistics(device()).planned_bytes;
}

}  // namespace cladtorch::train
