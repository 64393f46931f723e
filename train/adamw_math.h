// One element of AdamW: the reference. With the scaled gradient g,
//     m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
//     p = keep p - step_size m / (sqrt(v) second_scale + eps)
#pragma once

#include <cmath>

#include "tensor/host_device.h"

namespace cladtorch::train {

/// The numbers of one AdamW step, the same for all elements.
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

}  // namespace cladtorch::train
