// What changes parameters from their gradients: the part that all optimizers share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cladtorch/train/tensor_list.h"

namespace cladtorch {

namespace train {
struct StepInput;
}  // namespace train

/// Numbers that an optimizer keeps from step to step, in tensors with the names of the parameters.
struct OptimizerState {
  std::string name;  ///< as in PyTorch's state_dict: "exp_avg"
  const TensorList* tensors;
};

/// Updates parameters in place, each step in fused passes over memory. A bfloat16 parameter has a float32
/// master: the update is applied to that, so that steps smaller than a bfloat16 digit add up, and the
/// parameter is its rounded copy, written in the same pass.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update with `gradient_scale` times the gradients, which match the masters in order, shape and dtype;
  /// marks them zero without writing them. Allocates nothing after the first step. Throws Error if the lists
  /// differ.
  void step(TensorList& gradients, double gradient_scale = 1.0);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  void step(Model& gradient, double gradient_scale = 1.0) {
    TensorList list(gradient);
    step(list, gradient_scale);
  }

  /// The same on a CUDA device, with numbers in its memory (train/optimizer_on_device.h); the host does not
  /// wait.
  void step_on_device(TensorList& gradients, const Tensor& input, const Tensor& output);
  /// What the next step is told there. Throws Error if this optimizer runs on the CPU alone.
  virtual train::StepInput device_input(double clip, double weight) const;

  /// Whether updates may be limited to a share of the pieces, as where each number is updated by itself.
  virtual bool can_share() const { return false; }
  /// Updates change these pieces of masters() alone, and keep state for no others. Throws Error if they
  /// cannot.
  void set_share(std::vector<size_t> pieces);
  /// The pieces that updates change.
  std::span<const size_t> share() const { return share_; }
  /// Euclidean norm of the masters that updates change here.
  double norm_of_masters() const;
  /// Whether all state that it keeps is finite.
  bool has_finite_state() const;

  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }

  const TensorList& parameters() const { return parameters_; }
  /// The tensors that updates change: the parameters themselves, unless those are bfloat16.
  const TensorList& masters() const { return masters_; }

  // For checkpoints.
  /// Of this type in files: "AdamW".
  const std::string& name() const { return name_; }
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  virtual std::vector<OptimizerState> state() const = 0;

  /// Memory for the state of the pieces that updates change, and for what a step computes.
  virtual size_t bytes() const;

 protected:
  /// With float32 masters of bfloat16 parameters made here.
  Optimizer(std::string name, TensorList parameters, double lr);
  /// With the caller's masters. Throws Error if the lists do not fit.
  Optimizer(std::string name, TensorList parameters, TensorList masters, double lr);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// One update on the CPU, of which steps() is the number. The gradients' zeros are written.
  virtual void update(TensorList& gradients, double gradient_scale) = 0;
  /// The same on a device; `input` is device_input() there.
  virtual void update_on_device(TensorList& gradients, const Tensor& input, const Tensor& output);

  TensorList parameters_, masters_;
  std::vector<size_t> share_;
  double lr_;
  int64_t steps_ = 0;

 private:
  void check(const TensorList& gradients) const;
  std::string name_;
};

/// Zeros like `parameters` that take no memory before somebody writes them.
TensorList zero_state(const TensorList& parameters);

}  // namespace cladtorch
