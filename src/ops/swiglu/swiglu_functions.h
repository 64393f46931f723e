// SwiGLU and its pullback of one float or double: the reference.
#pragma once

#include "cladtorch/ops/functions/functions.h"

namespace cladtorch::detail {

struct Swiglu {
  static constexpr const char* name = "swiglu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T gate, T up) const {
    return functions::Silu{}(gate)*up;
  }
};

template <class T>
struct SwigluGradients {
  T gate, up;
};

template <class T>
CLADTORCH_HOST_DEVICE SwigluGradients<T> swiglu_gradients(T gate, T up, T d_y) {
  const T s = functions::falling_sigmoid(-gate);
  return {d_y * up * functions::Silu::slope_of_gate(gate, s), d_y * gate * s};
}

}  // namespace cladtorch::detail
