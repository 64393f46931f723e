// Value and derivative of GELU's tanh form. With u = sqrt(2/pi) (x + 0.044715 x^3),
//   (1 + tanh u) / 2 = s = 1 / (1 + exp(-2u)),   y = x s,   dy/dx = s + x s (1 - s) 2 u'.
// The logistic form has no cancellation, unlike 1 + tanh u for negative u.
// For any T with arithmetic over Scalar (a float, a double, a vector of floats), given its exp, which
// knows its reciprocal too.
#pragma once

#include "tensor/host_device.h"

namespace {

template <class Scalar>
constexpr Scalar gelu_tanh_linear = Scalar(1.5957691216057307868);  // 2 sqrt(2/pi)
template <class Scalar>
constexpr Scalar gelu_tanh_cubic = Scalar(0.071354816272600239131);  // that times 0.044715

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T gelu_tanh_gate(T x, Exp exp) {
  return Exp::reciprocal_of(Scalar(1) +
                            exp(-x * (x * x * gelu_tanh_cubic<Scalar> + gelu_tanh_linear<Scalar>)));
}

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T gelu_tanh_value(T x, Exp exp) {
  return x * gelu_tanh_gate<Scalar>(x, exp);
}

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T gelu_tanh_derivative(T x, Exp exp) {
  const T s = gelu_tanh_gate<Scalar>(x, exp);
  return s + x * s * (Scalar(1) - s) * (x * x * (3 * gelu_tanh_cubic<Scalar>)+gelu_tanh_linear<Scalar>);
}

}  // namespace
