// Value and derivative of SiLU, y = x s with s = 1 / (1 + exp(-x)):  dy/dx = s + x s (1 - s).
// For any T with arithmetic over Scalar (a float, a double, a vector of floats), given its exp, which
// knows its reciprocal too.
#pragma once

#include "tensor/host_device.h"

namespace {

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T silu_gate(T x, Exp exp) {
  return Exp::reciprocal_of(Scalar(1) + exp(-x));
}

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T silu_value(T x, Exp exp) {
  return x * silu_gate<Scalar>(x, exp);
}

/// The derivative, given the gate s of x.
template <class Scalar, class T>
CLADTORCH_HOST_DEVICE inline T silu_slope(T x, T s) {
  return s + x * s * (Scalar(1) - s);
}

template <class Scalar, class T, class Exp>
CLADTORCH_HOST_DEVICE inline T silu_derivative(T x, Exp exp) {
  return silu_slope<Scalar>(x, silu_gate<Scalar>(x, exp));
}

}  // namespace
