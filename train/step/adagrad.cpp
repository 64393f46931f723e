#include "cladtorch/train/adagrad.h"

#include <cmath>

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<AdagradOptions> {
  static constexpr const char* name = "Adagrad";
  static constexpr size_t always_kept = 1;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 1> state(const AdagradOptions&) { return {"sum"}; }

  template <class T>
  struct Step {
    T lr, eps;

    [[gnu::always_inline]] void operator()(T& p, T g, T& sum) const {
      sum += g * g;
      p -= lr * g / (std::sqrt(sum) + eps);
    }
  };
  template <class T>
  static Step<T> step(const AdagradOptions& o, const UpdateNumbers& n) {
    return {T(n.lr / (1 + static_cast<double>(n.steps - 1) * o.lr_decay)), T(o.eps)};
  }
};

template class ElementwiseOptimizer<AdagradOptions>;

}  // namespace cladtorch
