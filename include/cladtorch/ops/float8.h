// Linear layers that multiply in 8 bits. Source: Micikevicius et al., "FP8 formats for deep learning", 2022.
#pragma once

#include <cstdint>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// What linear() with a weight of Float8Layers rounds by.
///
/// It rounds its input and its weight to float8_e4m3 and, in the backward pass, the cotangent to float8_e5m2,
/// and multiplies these three with one another. Sums are in float32; results and gradients keep the dtypes
/// that they have otherwise, and the gradient of the bias is not rounded to 8 bits.
///
/// Before an operand is rounded it is multiplied by a power of two, the largest with which a number `a` stays
/// in range, and the product is divided by it. Inside a TrainingScope a is the largest absolute value that
/// the operand had in the steps before; what has grown beyond it becomes the largest number of the format. In
/// the first step, and outside a scope, a is that of the operand itself. What is not finite becomes NaN.
///
/// A product with a number of rows that is no multiple of 16 is not rounded: decoding one token, for example.
struct Float8Scaling {
  static constexpr int64_t steps = 16;  ///< that are remembered, with the one under way
  static constexpr int64_t multiple = 16;
  /// The largest absolute values of input, weight and cotangent by step, the one under way first: float32
  /// [3, steps]; 0 where there is none.
  Tensor amax;
};

/// The weights of a model that linear() multiplies by in 8 bits, and what it remembers of their operands.
class Float8Layers {
 public:
  /// From now on; `weights` [out, in] of float32 or bfloat16 lie on one device. Those whose extents are no
  /// multiples of 16 are left alone. Throws Error if the device cannot multiply in 8 bits: a CUDA device of
  /// compute capability below 8.9. A CPU rounds, and multiplies in the weights' dtype.
  explicit Float8Layers(std::vector<Tensor> weights);
  ~Float8Layers();
  Float8Layers(const Float8Layers&) = delete;
  Float8Layers& operator=(const Float8Layers&) = delete;

  /// Ends a step: to be called when the backward pass of its last micro-batch is done.
  void finish_step();
  /// Forgets what the step under way has shown.
  void forget_step();

  /// float32 [layers, 3, Float8Scaling::steps]: a part of the state of training.
  const Tensor& amax() const { return amax_; }
  int64_t layers() const { return static_cast<int64_t>(weights_.size()); }

 private:
  std::vector<Tensor> weights_;
  Tensor amax_;
};

}  // namespace cladtorch
