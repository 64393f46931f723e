#include "cladtorch/train/rmsprop.h"

#include <cmath>

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<RMSpropOptions> {
  static constexpr const char* name = "RMSprop";
  static constexpr size_t always_kept = 1;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 3> state(const RMSpropOptions& o) {
    return {"square_avg", o.momentum != 0 ? "momentum_buffer" : nullptr, o.centered ? "grad_avg" : nullptr};
  }

  template <class T>
  struct Step {
    T alpha, rest, eps, momentum, lr, centered;

    [[gnu::always_inline]] void operator()(T& p, T g, T& v, T& b, T& a) const {
      v = alpha * v + rest * g * g;
      a = alpha * a + rest * g;
      // Rounding makes the variance of a constant gradient negative; NaN stays.
      b = momentum * b + g / (std::sqrt(std::max(v - centered * a * a, T(0))) + eps);
      p -= lr * b;
    }
  };
  template <class T>
  static Step<T> step(const RMSpropOptions& o, const UpdateNumbers& n) {
    return {T(o.alpha), T(1 - o.alpha), T(o.eps), T(o.momentum), T(n.lr), T(o.centered ? 1 : 0)};
  }
};

template class ElementwiseOptimizer<RMSpropOptions>;

}  // namespace cladtorch
