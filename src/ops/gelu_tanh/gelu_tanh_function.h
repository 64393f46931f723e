// GELU's tanh form and its pullback of one float or double: the reference.
#pragma once

#include "ops/common/scalar_exp.h"
#include "ops/gelu_tanh/gelu_tanh_math.h"

namespace cladtorch::detail {

struct GeluTanh {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return gelu_tanh_value<T>(x, ScalarExp{});
  }
};

struct GeluTanhPullback {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x, T d_y) const {
    return d_y * gelu_tanh_derivative<T>(x, ScalarExp{});
  }
};

}  // namespace cladtorch::detail
