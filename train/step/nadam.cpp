#include "cladtorch/train/nadam.h"

#include <cmath>

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<NAdamOptions> {
  static constexpr const char* name = "NAdam";
  static constexpr size_t always_kept = 2;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 2> state(const NAdamOptions&) { return {"exp_avg", "exp_avg_sq"}; }

  template <class T>
  struct Step {
    T beta1, rest1, beta2, rest2, of_gradient, of_mean, second_scale, eps;

    [[gnu::always_inline]] void operator()(T& p, T g, T& m, T& v) const {
      m = beta1 * m + rest1 * g;
      v = beta2 * v + rest2 * g * g;
      p -= (of_gradient * g + of_mean * m) / (std::sqrt(v) * second_scale + eps);
    }
  };
  template <class T>
  static Step<T> step(const NAdamOptions& o, const UpdateNumbers& n) {
    const auto mu = [&](int64_t t) {
      return o.beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * o.momentum_decay));
    };
    double product = 1;  // its later factors no longer change 1 - product
    for (int64_t t = 1; t <= n.steps && product > 1e-17; ++t) product *= mu(t);
    const double now = mu(n.steps), next = mu(n.steps + 1);
    const double correction = 1 - std::pow(o.beta2, static_cast<double>(n.steps));
    return {T(o.beta1),
            T(1 - o.beta1),
            T(o.beta2),
            T(1 - o.beta2),
            T(n.lr * (1 - now) / (1 - product)),
            T(n.lr * next / (1 - product * next)),
            T(1 / std::sqrt(correction)),
            T(o.eps)};
  }
};

template class ElementwiseOptimizer<NAdamOptions>;

}  // namespace cladtorch
