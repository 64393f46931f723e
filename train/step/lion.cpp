#include "cladtorch/train/lion.h"

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<LionOptions> {
  static constexpr const char* name = "Lion";
  static constexpr size_t always_kept = 1;
  static constexpr bool decays_gradient = false;

  static std::array<const char*, 1> state(const LionOptions&) { return {"exp_avg"}; }

  template <class T>
  struct Step {
    T beta1, rest1, beta2, rest2, lr, keep;

    [[gnu::always_inline]] void operator()(T& p, T g, T& m) const {
      const T direction = beta1 * m + rest1 * g;
      p = keep * p - lr * (T(direction > 0) - T(direction < 0));
      m = beta2 * m + rest2 * g;
    }
  };
  template <class T>
  static Step<T> step(const LionOptions& o, const UpdateNumbers& n) {
    return {T(o.beta1), T(1 - o.beta1), T(o.beta2), T(1 - o.beta2), T(n.lr), T(1 - n.lr * n.weight_decay)};
  }
};

template class ElementwiseOptimizer<LionOptions>;

}  // namespace cladtorch
