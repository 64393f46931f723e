#include "cladtorch/train/adamax.h"

#include <cmath>

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<AdamaxOptions> {
  static constexpr const char* name = "Adamax";
  static constexpr size_t always_kept = 2;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 2> state(const AdamaxOptions&) { return {"exp_avg", "exp_inf"}; }

  template <class T>
  struct Step {
    T beta1, rest, beta2, eps, step_size;

    [[gnu::always_inline]] void operator()(T& p, T g, T& m, T& u) const {
      m = beta1 * m + rest * g;
      // As std::max, but NaN stays.
      const T size = std::abs(g) + eps, faded = beta2 * u;
      u = faded > size ? faded : size;
      p -= step_size * m / u;
    }
  };
  template <class T>
  static Step<T> step(const AdamaxOptions& o, const UpdateNumbers& n) {
    const double correction = 1 - std::pow(o.beta1, static_cast<double>(n.steps));
    return {T(o.beta1), T(1 - o.beta1), T(o.beta2), T(o.eps), T(n.lr / correction)};
  }
};

template class ElementwiseOptimizer<AdamaxOptions>;

}  // namespace cladtorch
