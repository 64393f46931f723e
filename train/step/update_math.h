// What optimizers do to one element: the reference for loops here and on devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::train {

/// One step of AdamW, the same for all elements. With the scaled gradient g,
///     m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///     p = keep p - step_size m / (sqrt(v) second_scale + eps)
template <class T>
struct AdamStep {
  T beta1, beta2, step_size, second_scale, eps, keep;

  [[gnu::always_inline]] CLADTORCH_HOST_DEVICE void operator()(T& p, T g, T& m, T& v) const {
    const T first = (1 - beta1) * g, second = (1 - beta2) * g * g;
    m = beta1 * m + first;
    v = beta2 * v + second;
    p = keep * p - step_size * m / (std::sqrt(v) * second_scale + eps);
  }
};

/// The one of number `steps` >= 1.
template <class T, class Options>
AdamStep<T> adam_step(const Options& options, double lr, int64_t steps, double weight_decay) {
  const double correction1 = 1.0 - std::pow(options.beta1, static_cast<double>(steps));
  const double correction2 = 1.0 - std::pow(options.beta2, static_cast<double>(steps));
  return {static_cast<T>(options.beta1),    static_cast<T>(options.beta2),
          static_cast<T>(lr / correction1), static_cast<T>(1.0 / std::sqrt(correction2)),
          static_cast<T>(options.eps),      static_cast<T>(1.0 - lr * weight_decay)};
}

/// The numbers of Muon's momentum. With the scaled gradient g,
///     b = momentum b + (1 - momentum) g,   u = of_gradient g + of_buffer b
template <class T>
struct MuonCoefficients {
  T gradient_scale, momentum, of_gradient, of_buffer;
};

/// A fresh buffer is zero and not read.
template <bool Fresh, class T>
[[gnu::always_inline]] CLADTORCH_HOST_DEVICE inline void muon_element(T g, T& b, T& u,
                                                                      const MuonCoefficients<T>& c) {
  const T gradient = g * c.gradient_scale, part = (1 - c.momentum) * gradient;
  b = Fresh ? part : c.momentum * b + part;
  u = c.of_gradient * gradient + c.of_buffer * b;
}

}  // namespace cladtorch::train
