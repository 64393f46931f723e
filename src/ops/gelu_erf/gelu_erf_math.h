// Value and derivative of the exact GELU. With the normal distribution's P(x) = erfc(-x / sqrt 2) / 2 and its
// density p(x) = exp(-x^2 / 2) / sqrt(2 pi),   y = x P(x),   dy/dx = P(x) + x p(x).
// P is never 1 + erf, which cancels for negative x. For any T with arithmetic, given its normal distribution.
#pragma once

#include "tensor/host_device.h"

namespace {

template <class T>
struct NormalAt {
  T distribution, density;
};

template <class T, class Normal>
CLADTORCH_HOST_DEVICE inline T gelu_erf_value(T x, Normal normal) {
  return x * normal(x).distribution;
}

template <class T, class Normal>
CLADTORCH_HOST_DEVICE inline T gelu_erf_derivative(T x, Normal normal) {
  const NormalAt<T> at = normal(x);
  return at.distribution + x * at.density;
}

}  // namespace
