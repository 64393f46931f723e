// What optimizers do to one element: the reference for all loops, here and on devices.
#pragma once

#include <cmath>

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::train {

/// The numbers of one AdamW step, the same for all elements. With the scaled gradient g,
///     m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///     p = keep p - step_size m / (sqrt(v) second_scale + eps)
template <class T>
struct AdamWCoefficients {
  T beta1, beta2, gradient_scale, step_size, second_scale, eps, keep;
};

/// Fresh moments are zero and not read.
template <bool Fresh, class T>
[[gnu::always_inline]] CLADTORCH_HOST_DEVICE inline void adamw_element(T& p, T g, T& m, T& v,
                                                                       const AdamWCoefficients<T>& c) {
  const T gradient = g * c.gradient_scale;
  const T first = (1 - c.beta1) * gradient, second = (1 - c.beta2) * gradient * gradient;
  m = Fresh ? first : c.beta1 * m + first;
  v = Fresh ? second : c.beta2 * v + second;
  p = c.keep * p - c.step_size * m / (std::sqrt(v) * c.second_scale + c.eps);
}

/// The numbers of one step of SGD. With the scaled gradient g + decay p,
///     b = momentum b + g,   p = p - lr (of_gradient g + of_buffer b)
template <class T>
struct SGDCoefficients {
  T gradient_scale, decay, momentum, lr, of_gradient, of_buffer;
};

/// A fresh buffer is zero and not read.
template <bool Fresh, class T>
[[gnu::always_inline]] CLADTORCH_HOST_DEVICE inline void sgd_element(T& p, T g, T& b,
                                                                     const SGDCoefficients<T>& c) {
  const T gradient = g * c.gradient_scale + c.decay * p;
  b = Fresh ? gradient : c.momentum * b + gradient;
  p -= c.lr * (c.of_gradient * gradient + c.of_buffer * b);
}

/// The numbers of Muon's momentum. With the scaled gradient g,
///     b = momentum b + (1 - momentum) g,   u = of_gradient g + of_buffer b
template <class T>
struct MuonCoefficients {
  T gradient_scale, momentum, of_gradient, of_buffer;
};

template <bool Fresh, class T>
[[gnu::always_inline]] CLADTORCH_HOST_DEVICE inline void muon_element(T g, T& b, T& u,
                                                                      const MuonCoefficients<T>& c) {
  const T gradient = g * c.gradient_scale, part = (1 - c.momentum) * gradient;
  b = Fresh ? part : c.momentum * b + part;
  u = c.of_gradient * gradient + c.of_buffer * b;
}

}  // namespace cladtorch::train
