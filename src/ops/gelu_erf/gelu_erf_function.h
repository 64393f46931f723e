// The exact GELU and its pullback of one float or double: the reference.
#pragma once

#include <cmath>
#include <numbers>

#include "ops/gelu_erf/gelu_erf_math.h"

namespace cladtorch::detail {

struct ScalarNormal {
  template <class T>
  CLADTORCH_HOST_DEVICE NormalAt<T> operator()(T x) const {
    return {std::erfc(-x / std::numbers::sqrt2_v<T>) / 2,
            std::exp(-x * x / 2) * (std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>)};
  }
};

struct GeluErf {
  static constexpr const char* name = "gelu_erf";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return gelu_erf_value(x, ScalarNormal{});
  }
};

struct GeluErfPullback {
  static constexpr const char* name = "gelu_erf";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x, T d_y) const {
    return d_y * gelu_erf_derivative(x, ScalarNormal{});
  }
};

}  // namespace cladtorch::detail
