#include "cladtorch/train/radam.h"

#include <cmath>

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<RAdamOptions> {
  static constexpr const char* name = "RAdam";
  static constexpr size_t always_kept = 2;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 2> state(const RAdamOptions&) { return {"exp_avg", "exp_avg_sq"}; }

  template <class T>
  struct Step {
    T beta1, rest1, beta2, rest2, eps, step_size, of_root, of_one;

    [[gnu::always_inline]] void operator()(T& p, T g, T& m, T& v) const {
      m = beta1 * m + rest1 * g;
      v = beta2 * v + rest2 * g * g;
      p -= step_size * m / (of_root * (std::sqrt(v) + eps) + of_one);
    }
  };
  template <class T>
  static Step<T> step(const RAdamOptions& o, const UpdateNumbers& n) {
    const auto t = static_cast<double>(n.steps);
    const double power = std::pow(o.beta2, t), most = 2 / (1 - o.beta2) - 1;
    const double seen = most - 2 * t * power / (1 - power);
    const bool adapts = seen > 5;
    const double share =
        adapts ? std::sqrt((seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen) * (1 - power))
               : 1;
    return {T(o.beta1),        T(1 - o.beta1),   T(o.beta2),
            T(1 - o.beta2),    T(o.eps),         T(n.lr / (1 - std::pow(o.beta1, t)) * share),
            T(adapts ? 1 : 0), T(adapts ? 0 : 1)};
  }
};

template class ElementwiseOptimizer<RAdamOptions>;

}  // namespace cladtorch
