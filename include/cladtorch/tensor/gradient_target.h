// Where a pullback writes the gradient of one tensor.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Dense memory for a gradient contribution, and whether to add to it or to store over it.
///
///     if (d_x) {
///       auto target = accumulate_into(d_x, x.shape(), x.dtype());
///       kernel(..., target.data<float>(), target.add());
///     }
///
/// The writer must cover every element when add() is false. An operation on bfloat16 asks dtype() what to
/// write: the buffer of a bfloat16 parameter's gradient is float32, so that small contributions are not lost.
class GradientTarget {
 public:
  /// On the device that was asked for; T is dtype()'s element type.
  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  /// That of *d: the one asked for, or float32 instead of bfloat16.
  DType dtype() const { return dtype_; }
  bool add() const { return add_; }

  /// Null unless somebody asked (Tensor::want_squares), and on the CPU: then the writer may leave there the
  /// sum of the squares of all elements as they are after the write.
  double* squares() const { return squares_; }
  /// Their sum before the write; NaN if it is not known.
  double squares_before() const { return squares_before_; }

 private:
  friend GradientTarget accumulate_into(Tensor* d, const Shape& shape, DType dtype, Device device);
  friend GradientTarget store_into(Tensor& y);
  GradientTarget(Tensor* d, const Shape& shape, DType dtype, Device device);
  explicit GradientTarget(Tensor& y);
  void* data_;
  DType dtype_;
  bool add_ = false;
  double* squares_ = nullptr;
  double squares_before_ = detail::Storage::unknown;
  Tensor dropped_;  // memory of what a sink does not keep
};

/// Prepares *d to receive a contribution of the given shape: an undefined *d gets fresh storage, a gradient
/// buffer marked zero is taken over, both to be stored into; shared storage is copied first, the rest is
/// added to in place. Throws Error if *d is defined with another shape, dtype or device, except that a
/// float32 *d takes contributions of bfloat16. A sink gives memory that is thrown away.
GradientTarget accumulate_into(Tensor* d, const Shape& shape, DType dtype, Device device = {});

/// All of the dense `y`, which is stored over: the result of an operation, for code that writes results and
/// gradients alike.
GradientTarget store_into(Tensor& y);

/// `d`, the gradient of a pullback's argument, or null where the contribution to it need not be computed: it
/// is null or a sink, or the argument is frozen. Throws Error if a frozen argument has a gradient buffer with
/// memory, which would stay zero in silence.
///
///     if (Tensor* d = wanted(d_weight, weight)) { ... }
Tensor* wanted(Tensor* d, bool frozen = false);
inline Tensor* wanted(Tensor* d, const Tensor& argument) { return wanted(d, argument.is_frozen()); }

/// Whether the result of an operation on these differentiable arguments is a constant: all that are defined
/// are frozen. `y.set_frozen(all_frozen(x, weight, bias))` ends the backward pass of an operation that can.
template <class... Tensors>
bool all_frozen(const Tensors&... arguments) {
  return ((!arguments.defined() || arguments.is_frozen()) && ...);
}

}  // namespace cladtorch
