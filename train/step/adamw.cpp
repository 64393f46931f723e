#include "cladtorch/train/adamw.h"

#include "train/step/elementwise.h"
#include "train/step/optimizer_on_device.h"
#include "train/step/update_math.h"

namespace cladtorch {

template <>
struct train::UpdateRule<AdamWOptions> {
  static constexpr const char* name = "AdamW";
  static constexpr size_t always_kept = 2;
  static constexpr bool decays_gradient = false;

  static std::array<const char*, 2> state(const AdamWOptions&) { return {"exp_avg", "exp_avg_sq"}; }

  template <class T>
  static AdamStep<T> step(const AdamWOptions& o, const UpdateNumbers& n) {
    return adam_step<T>(o, n.lr, n.steps, n.weight_decay);
  }
};

template class ElementwiseOptimizer<AdamWOptions>;

train::StepInput AdamW::device_input(double clip, double weight) const {
  const auto step = steps() + 1;
  const train::AdamStep<double> numbers = train::adam_step<double>(options_, lr(), step, 0);
  return {.step_size = numbers.step_size,
          .second_scale = numbers.second_scale,
          .decay = lr() * options_.weight_decay,
          .clip = clip,
          .weight = weight,
          .step = static_cast<double>(step)};
}

void AdamW::update_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) {
  if (!tables_) tables_ = std::make_shared<train::OptimizerTables>();
  tables_->point_to(masters_, parameters_, gradients, first_moments(), second_moments());
  const train::AdamWConstants constants{options_.beta1, options_.beta2, options_.eps,
                                        options_.stochastic_rounding};
  train::adamw_on_device(*tables_, constants, input, output);
}

}  // namespace cladtorch
