// Where a kernel on raw memory writes the gradient of one operand.
#pragma once

#include <utility>

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {

template <class T>
struct Target {
  T* data = nullptr;          ///< null if the gradient is not wanted
  bool add = false;           ///< to what lies there; else every element is stored
  double* squares = nullptr;  ///< unless null, for the sum of the squares of all elements after the write
  double squares_before = 0;  ///< that sum before it, or NaN

  explicit operator bool() const { return data != nullptr; }
};

/// A target that is taken for written when this is destroyed.
template <class T>
struct HeldTarget : Target<T> {
  GradientWrite write;
};

/// Dense memory for the gradient *d of an operand of this shape; none if `d` is null.
template <class T>
HeldTarget<T> target_in(Tensor* d, const Shape& shape) {
  if (!d) return {};
  GradientTarget target = accumulate_into(d, shape, dtype_of<T>::value);
  return {{target.data<T>(), target.add(), target.squares(), target.squares_before()},
          std::move(target).take_write()};
}

/// Calls write(target) with memory for a contribution of T to *d, which is added to *d if that is a float32
/// buffer for bfloat16.
template <class T, class F>
void contribute(Tensor* d, const Shape& shape, F&& write) {
  if (std::is_same_v<T, bfloat16> && d && d->defined() && d->dtype() == DType::float32) {
    Tensor contribution;
    write(target_in<T>(&contribution, shape));
    d->accumulate(std::move(contribution));
  } else {
    write(target_in<T>(d, shape));
  }
}

/// The same for a contribution that is a sum of many terms: float for bfloat16, rounded to *d once if that is
/// not float32 itself.
template <class T, class F>
void contribute_sum(Tensor* d, const Shape& shape, F&& write) {
  if (std::is_same_v<T, bfloat16> && d && !(d->defined() && d->dtype() == DType::float32)) {
    Tensor sum;
    write(target_in<Computed<T>>(&sum, shape));
    d->accumulate(sum.to(dtype_of<T>::value));
  } else {
    write(target_in<Computed<T>>(d, shape));
  }
}

}  // namespace cladtorch::detail
