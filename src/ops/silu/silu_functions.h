// SiLU, SwiGLU and their pullbacks of one float or double: the reference.
#pragma once

#include "ops/common/scalar_exp.h"
#include "ops/silu/silu_math.h"

namespace cladtorch::detail {

struct Silu {
  static constexpr const char* name = "silu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return silu_value<T>(x, ScalarExp{});
  }
};

struct SiluPullback {
  static constexpr const char* name = "silu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x, T d_y) const {
    return d_y * silu_derivative<T>(x, ScalarExp{});
  }
};

struct Swiglu {
  static constexpr const char* name = "swiglu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T gate, T up) const {
    return silu_value<T>(gate, ScalarExp{}) * up;
  }
};

template <class T>
struct SwigluGradients {
  T gate, up;
};

template <class T>
CLADTORCH_HOST_DEVICE SwigluGradients<T> swiglu_gradients(T gate, T up, T d_y) {
  const T s = silu_gate<T>(gate, ScalarExp{});
  return {d_y * up * silu_slope<T>(gate, s), d_y * gate * s};
}

}  // namespace cladtorch::detail
