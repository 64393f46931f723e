// Where a kernel on raw memory writes the gradient of one operand.
#pragma once

#include "cladtorch/tensor/gradient_target.h"

namespace cladtorch::detail {

template <class T>
struct Target {
  T* data = nullptr;  ///< null if the gradient is not wanted
  bool add = false;   ///< to what lies there; else every element is stored

  explicit operator bool() const { return data != nullptr; }
};

/// Dense memory for the gradient *d of an operand of this shape; none if `d` is null.
template <class T>
Target<T> target_in(Tensor* d, const Shape& shape) {
  if (!d) return {};
  const GradientTarget target = accumulate_into(d, shape, dtype_of<T>::value);
  return {target.data<T>(), target.add()};
}

}  // namespace cladtorch::detail
