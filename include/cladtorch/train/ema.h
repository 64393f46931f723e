// An average of a model's weights over time.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/train/tensor_list.h"

namespace cladtorch {

/// Trained parameters and their averages, and frozen tensors and their copies.
class WeightAverage {
 public:
  /// The lists have the tensors of a model in the same order; the averages are float32 for bfloat16 `values`.
  WeightAverage(std::vector<NamedTensor> averages, std::vector<NamedTensor> values);

  /// average = decay average + (1 - decay) value of trained parameters, in place. Copies frozen tensors.
  /// Allocates nothing on the CPU.
  void update(double decay);

 private:
  TensorList averages_, values_;
  std::vector<NamedTensor> frozen_averages_, frozen_values_;
};

/// A second model whose weights are the exponential moving average of those of a model that is trained, as
/// torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(decay). It evaluates better than the last
/// weights, without a lower learning rate.
///
///     AveragedModel average(model, 0.999);
///     optimizer.step(gradient);
///     average.update_parameters();      // after each step
///     loss(average.module(), x, labels);
///
/// Frozen tensors are copied, as PyTorch copies buffers.
template <class Model>
class AveragedModel {
 public:
  /// Starts as a copy of `model`, with float32 in place of bfloat16, and reads the storage behind `model`
  /// from now on. PyTorch's starts as a copy at the first update.
  explicit AveragedModel(const Model& model, double decay = 0.999)
      : module_(copy(model)), average_(named_parameters(module_), named_parameters(model)), decay_(decay) {}

  /// module = decay module + (1 - decay) model. Allocates nothing.
  void update_parameters() { average_.update(decay_); }

  const Model& module() const { return module_; }
  Model& module() { return module_; }

 private:
  static Model copy(const Model& model) {
    Model copy = detail::copy_of(model);
    for_each_parameter(copy, [](const std::string&, Tensor& parameter) {
      const bool frozen = parameter.is_frozen();
      parameter = parameter.dtype() == DType::bfloat16 ? parameter.to(DType::float32) : parameter.clone();
      parameter.set_frozen(frozen);
    });
    return copy;
  }

  Model module_;
  WeightAverage average_;
  double decay_;
};

}  // namespace cladtorch
