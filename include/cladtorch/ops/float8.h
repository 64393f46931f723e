// Linear layers that multiply in 8 bits. Source: Micikevicius et al., "FP8 formats for deep learning", 2022.
#pragma once

#include <cstdint>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The scaling with which linear() rounds its operands if its weight belongs to Float8Layers.
///
/// It rounds its input and its weight to float8_e4m3 and, in the backward pass, the cotangent to float8_e5m2,
/// and multiplies these three with one another. Sums are in float32; results and gradients keep the dtypes
/// that they have otherwise, and the gradient of the bias is not rounded to 8 bits.
///
/// Before an operand is rounded it is multiplied by a power of two, the largest with which a number `a` stays
/// in range, and the product is divided by it. Inside a TrainingScope, a is the largest absolute value that
/// the operand had in the previous steps; larger values become the largest number of the format. In
/// the first step, and outside a scope, a is the largest absolute value of the operand itself. Values that
/// are not finite become NaN.
///
/// A product is not rounded if its number of rows is not a multiple of 16, as in decoding one token.
struct Float8Scaling {
  static constexpr int64_t steps = 16;  ///< that are remembered, including the current one
  static constexpr int64_t multiple = 16;
  /// The largest absolute values of input, weight and cotangent by step, the current step first: float32
  /// [3, steps]; 0 for steps that did not happen.
  Tensor amax;
};

/// The weights of a model with which linear() multiplies in 8 bits, and the largest values of their operands.
class Float8Layers {
 public:
  /// Takes effect at once. The `weights` [out, in], of float32 or bfloat16, must lie on one device. Weights
  /// whose extents are not multiples of 16 do not change. Throws Error if the device cannot multiply in 8
  /// bits, as a CUDA device of compute capability below 8.9. A CPU rounds, and multiplies in the weights'
  /// dtype.
  explicit Float8Layers(std::vector<Tensor> weights);
  ~Float8Layers();
  Float8Layers(const Float8Layers&) = delete;
  Float8Layers& operator=(const Float8Layers&) = delete;

  /// Ends a step. Call it after the backward pass of the step's last micro-batch; where others compute some
  /// of its micro-batches, put the largest values of all into amax_of_step() before.
  void finish_step();
  /// Forgets the largest values of the current step.
  void forget_step();

  /// float32 [layers, 3, Float8Scaling::steps], which is a part of the state of training.
  const Tensor& amax() const { return amax_; }
  /// Of the current step alone: a view [layers, 3].
  Tensor amax_of_step() const { return amax_.select(2, 0); }
  int64_t layers() const { return static_cast<int64_t>(weights_.size()); }

 private:
  std::vector<Tensor> weights_;
  Tensor amax_;
};

}  // namespace cladtorch
