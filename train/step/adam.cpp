#include "cladtorch/train/adam.h"

#include "train/step/elementwise.h"
#include "train/step/update_math.h"

namespace cladtorch {

template <>
struct train::UpdateRule<AdamOptions> {
  static constexpr const char* name = "Adam";
  static constexpr size_t always_kept = 2;
  static constexpr bool decays_gradient = true;

  static std::array<const char*, 2> state(const AdamOptions&) { return {"exp_avg", "exp_avg_sq"}; }

  template <class T>
  static AdamStep<T> step(const AdamOptions& o, const UpdateNumbers& n) {
    return adam_step<T>(o, n.lr, n.steps, 0);
  }
};

template class ElementwiseOptimizer<AdamOptions>;

}  // namespace cladtorch
