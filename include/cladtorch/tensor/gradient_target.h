// Where a pullback writes the gradient of one tensor.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Dense memory for a gradient contribution, and whether to add to it or to overwrite it.
///
///     if (d_x) {
///       auto target = accumulate_into(d_x, x.shape(), x.dtype());
///       kernel(..., target.data<float>(), target.add());
///     }
///
/// The writer must cover every element if add() is false. An operation on bfloat16 writes elements of
/// dtype(), because the gradient buffer of a bfloat16 parameter is float32, so that small contributions are
/// not lost. A listener of the buffer (Tensor::set_listener) takes the contribution for written when this is
/// destroyed, so this must live until the kernel has returned.
class GradientTarget {
 public:
  /// Memory on the requested device; T is the element type of dtype().
  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  /// The dtype of *d, which is the requested one, or float32 instead of bfloat16.
  DType dtype() const { return dtype_; }
  bool add() const { return add_; }

  /// Null unless Tensor::want_squares was called and the memory is on the CPU. The writer may store there the
  /// sum of the squares of all elements after the write.
  double* squares() const { return squares_; }
  /// Their sum before the write; NaN if it is not known.
  double squares_before() const { return squares_before_; }

  /// What must live until the memory is written, for code that keeps the rest in another form.
  detail::GradientWrite take_write() && { return std::move(write_); }

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
  Tensor dropped_;  // memory that a sink gives and drops
  detail::GradientWrite write_;
};

/// Prepares *d to receive a contribution of the given shape. If *d is undefined it gets new storage, and if
/// it is a gradient buffer marked zero it loses the mark; both are to be overwritten. Shared storage is
/// copied first, and anything else is added to in place. Throws Error if *d is defined with another shape,
/// dtype or device, except that a float32 *d takes contributions of bfloat16. A sink gives memory that is
/// thrown away.
GradientTarget accumulate_into(Tensor* d, const Shape& shape, DType dtype, Device device = {});

/// All of the dense `y`, to be overwritten. It is the result of an operation, for code that writes results
/// and gradients in the same way.
GradientTarget store_into(Tensor& y);

/// `d`, the gradient of a pullback's argument, or null if the contribution to it need not be computed because
/// it is null or a sink, or the argument is frozen. Throws Error if a frozen argument has a gradient buffer
/// with memory, which would silently stay zero.
///
///     if (Tensor* d = wanted(d_weight, weight)) { ... }
Tensor* wanted(Tensor* d, bool frozen = false);
inline Tensor* wanted(Tensor* d, const Tensor& argument) { return wanted(d, argument.is_frozen()); }

/// Whether the result of an operation on these differentiable arguments is a constant, because all that are
/// defined are frozen. An operation calls `y.set_frozen(all_frozen(x, weight, bias))` to end the backward
/// pass.
template <class... Tensors>
bool all_frozen(const Tensors&... arguments) {
  return ((!arguments.defined() || arguments.is_frozen()) && ...);
}

}  // namespace cladtorch
