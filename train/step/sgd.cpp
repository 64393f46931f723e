#include "cladtorch/train/sgd.h"

#include "train/step/elementwise.h"

namespace cladtorch {

template <>
struct train::UpdateRule<SGDOptions> {
  static constexpr const char* name = "SGD";
  static constexpr size_t always_kept = 0;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 1> state(const SGDOptions& o) {
    return {o.momentum != 0 ? "momentum_buffer" : nullptr};
  }

  template <class T>
  struct Step {
    T momentum, lr, of_gradient, of_buffer;

    [[gnu::always_inline]] void operator()(T& p, T g, T& b) const {
      b = momentum * b + g;
      p -= lr * (of_gradient * g + of_buffer * b);
    }
  };
  template <class T>
  static Step<T> step(const SGDOptions& o, const UpdateNumbers& n) {
    return {T(o.momentum), T(n.lr), T(o.nesterov ? 1 : 0), T(o.nesterov ? o.momentum : 1)};
  }
};

template class ElementwiseOptimizer<SGDOptions>;

}  // namespace cladtorch
